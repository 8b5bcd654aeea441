//! Compares the estimate with a real tokenizer, on typical texts of conversations.

use super::*;

const CHINESE: &str = "这个函数在读取配置文件之前没有检查路径是否存在，因此在第一次运行时会失败。请先创建目录，然后再写入默认设置。\
    如果用户已经修改过配置，我们不能覆盖他们的内容，只能追加缺少的字段，并且在日志中说明添加了什么。测试应该包括空文件、损坏的文件以及没有权限的情况。\
    另外，性能也很重要：启动时间不能超过二十毫秒，内存占用要有上限。";
const JAPANESE: &str = "この関数は設定ファイルを読み込む前にパスが存在するかどうかを確認していないため、最初の実行時に失敗します。\
    まずディレクトリを作成してから、既定の設定を書き込んでください。ユーザーがすでに設定を変更している場合は、その内容を上書きせず、\
    足りない項目だけを追加し、何を追加したかをログに残す必要があります。テストには空のファイルや壊れたファイルも含めてください。";
const KOREAN: &str = "이 함수는 설정 파일을 읽기 전에 경로가 존재하는지 확인하지 않기 때문에 처음 실행할 때 실패합니다. 먼저 디렉터리를 만든 다음 \
    기본 설정을 기록해 주세요. 사용자가 이미 설정을 변경했다면 그 내용을 덮어쓰지 말고 빠진 항목만 추가해야 합니다. 테스트에는 빈 파일과 손상된 \
    파일도 포함되어야 합니다.";
const RUSSIAN: &str = "Эта функция не проверяет, существует ли путь, прежде чем читать файл настроек, поэтому при первом запуске она \
    завершается с ошибкой. Сначала создайте каталог, а затем запишите настройки по умолчанию. Если пользователь уже изменил их, нельзя \
    перезаписывать его значения: нужно добавить только недостающие поля и сообщить об этом в журнале.";
const GERMAN: &str = "Diese Funktion prüft nicht, ob der Pfad vorhanden ist, bevor sie die Einstellungen liest, und scheitert deshalb beim \
    ersten Start. Legen Sie zuerst den Ordner an und schreiben Sie danach die Voreinstellungen. Wenn der Benutzer sie schon geändert hat, \
    dürfen seine Werte nicht überschrieben werden: nur fehlende Felder werden ergänzt, und das Protokoll sagt, welche es waren.";
const PYTHON: &str = r#"
import asyncio
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class RetryPolicy:
    """How often a request is tried again, and how long to wait in between."""

    max_retries: int = 3
    base_delay: float = 0.5
    errors: tuple[type[Exception], ...] = field(default=(TimeoutError, ConnectionError))

    def delay(self, attempt: int) -> float:
        return min(self.base_delay * 2 ** attempt, 30.0)


async def fetch_all(urls: list[str], policy: RetryPolicy, folder: Path) -> dict[str, bytes]:
    results: dict[str, bytes] = {}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        for index, url in enumerate(urls):
            for attempt in range(policy.max_retries + 1):
                try:
                    async with session.get(url) as response:
                        response.raise_for_status()
                        results[url] = await response.read()
                        (folder / f"{index:04}.bin").write_bytes(results[url])
                        break
                except policy.errors as error:
                    logger.warning("attempt %d of %s failed: %s", attempt, url, error)
                    await asyncio.sleep(policy.delay(attempt))
    return results
"#;
const TYPESCRIPT: &str = r#"
import { EventEmitter } from "node:events";
import type { Session, SessionEvent } from "./session.js";

export interface PanelOptions {
    readonly title: string;
    readonly collapsible?: boolean;
    onClose?: () => void;
}

export class StatusPanel extends EventEmitter {
    #rows = new Map<string, HTMLDivElement>();

    constructor(private readonly root: HTMLElement, private readonly options: PanelOptions) {
        super();
        this.root.classList.add("status-panel");
        this.root.addEventListener("click", (event) => this.#handleClick(event));
    }

    update(session: Session): void {
        for (const { id, status, elapsedMs } of session.tasks()) {
            const row = this.#rows.get(id) ?? this.#createRow(id);
            row.textContent = `${status.toUpperCase()} ${(elapsedMs / 1000).toFixed(1)}s`;
            row.dataset.status = status;
        }
        if (this.options.collapsible && session.tasks().length === 0) {
            this.root.hidden = true;
        }
    }
}
"#;
const JSON: &str = r#"{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","content":[{"type":"text","text":"I will look at the file first."},{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"read","input":{"path":"crates/session/src/actor.rs","offset":120,"limit":80}}],"usage":{"input_tokens":2095,"output_tokens":503,"cache_read_input_tokens":18231,"cache_creation_input_tokens":0},"stop_reason":"tool_use","timestamp":1731741013123,"flags":[true,false,null],"cost":{"input":0.006285,"output":0.007545,"total":0.01383}}"#;
const PRETTY_JSON: &str = r#"{
  "name": "example-service",
  "version": "2.14.0",
  "private": true,
  "scripts": {
    "build": "tsc -p tsconfig.build.json",
    "test": "vitest run --coverage",
    "lint": "eslint . --max-warnings 0"
  },
  "dependencies": {
    "fastify": "^4.26.2",
    "pino": "^8.19.0",
    "zod": "^3.22.4"
  },
  "devDependencies": {
    "@types/node": "^20.11.30",
    "typescript": "~5.4.3",
    "vitest": "^1.4.0"
  }
}"#;
const CARGO_OUTPUT: &str = "   Compiling omp-types v0.1.0 (/home/user/omp/crates/types)
warning: unused variable: `length`
   --> crates/types/src/tokens.rs:118:13
    |
118 |         let length = self.length;
    |             ^^^^^^ help: if this is intentional, prefix it with an underscore: `_length`
    |
    = note: `#[warn(unused_variables)]` on by default

error[E0308]: mismatched types
   --> crates/session/src/port.rs:42:27
    |
42  |         self.control.add(&message);
    |                      --- ^^^^^^^^ expected `Arc<Message>`, found `&Arc<Message>`
    |                      |
    |                      arguments to this method are incorrect

For more information about this error, try `rustc --explain E0308`.
test result: ok. 1146 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 12.84s
";
const LISTING: &str = "-rw-r--r-- 1 user user   4211 Nov 16 07:10 Cargo.toml
-rw-r--r-- 1 user user 118230 Nov 16 07:10 Cargo.lock
drwxr-xr-x 9 user user   4096 Nov 15 22:41 crates
drwxr-xr-x 2 user user   4096 Nov 14 09:03 docs
-rwxr-xr-x 1 user user    812 Oct 30 18:22 install.sh
-rw-r--r-- 1 user user   1071 Oct 01 12:00 LICENSE
";

/// The allowed error of an estimate for a longer text, in percent.
const BAND: f64 = 12.0;

/// Returns the estimate in percent of o200k's count.
fn percent(tokenizer: &tiktoken_rs::CoreBPE, text: &str) -> f64 {
    let counted = tokenizer.encode_ordinary(text).len();
    estimate_tokens(text) as f64 * 100.0 / counted as f64
}

#[test]
fn the_estimate_is_near_what_a_real_tokenizer_counts() {
    let rust = concat!(include_str!("../transcript.rs"), include_str!("../stream.rs"));
    let prose = concat!(include_str!("../../../../docs/sessions.md"), include_str!("../../../../docs/plan-mode.md"));
    let scripts = include_str!("../../../omp/tests/it/rpc_client.mjs");
    let rows = [
        ("rust", rust),
        ("prose", prose),
        ("german", GERMAN),
        ("python", PYTHON),
        ("typescript", TYPESCRIPT),
        ("javascript", scripts),
        ("json", JSON),
        ("pretty json", PRETTY_JSON),
        ("compiler output", CARGO_OUTPUT),
        ("listing", LISTING),
        ("chinese", CHINESE),
        ("japanese", JAPANESE),
        ("korean", KOREAN),
        ("russian", RUSSIAN),
    ];
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let measured: Vec<_> = rows.iter().map(|(name, text)| (*name, percent(&tokenizer, text))).collect();
    let outside = measured.iter().filter(|(_, percent)| (percent - 100.0).abs() > BAND).count();
    assert_eq!(outside, 0, "{measured:?}");
}

#[test]
fn short_texts() {
    for (text, expect) in [("", 0), (" ", 0), ("word", 2), ("fn main() {}", 5), ("日本語", 2)] {
        assert_eq!(estimate_tokens(text), expect, "{text:?}");
    }
}

#[test]
fn more_text_is_never_fewer_tokens() {
    let text = PYTHON.to_owned() + CHINESE + JSON;
    let mut least = 0;
    for (at, _) in text.char_indices().step_by(7) {
        let tokens = estimate_tokens(&text[..at]);
        assert!(tokens + 1 >= least, "{at}");
        least = tokens;
    }
}
