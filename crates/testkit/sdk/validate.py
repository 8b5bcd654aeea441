"""Checks requests that omp sent to the fake server against the types of the vendors' own SDKs.

    validate.py FOLDER      every `*.jsonl` that the server wrote there (OMP_TEST_REQUESTS)

One process checks all of them. What omp sends on purpose beyond the types is listed in ALLOWED with its reason; anything
else that a type does not know, or knows differently, is a failure.
"""

import hashlib
import json
import sys
import typing
from pathlib import Path

import pydantic
from anthropic.types import message_create_params as anthropic_params
from google.genai import types as genai
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

# Fields beyond the vendor's type, by wire: where they stand (list positions as `*`), and why they are sent. Each is read
# only by servers that imitate the API; OpenAI itself is never sent one of them.
ALLOWED = {
    "openai-completions": {
        "messages.*.reasoning_content": "earlier thinking, for DeepSeek, Moonshot, vLLM and llama.cpp",
        "messages.*.reasoning": "the same, as OpenRouter and newer vLLM name it",
        "messages.*.reasoning_text": "the same, as Copilot names it",
        "messages.*.reasoning_details": "encrypted thoughts that OpenRouter wants back",
        "messages.*.cache_control": "marks for Claude behind OpenRouter",
        "messages.*.content.*.cache_control": "marks for Claude behind OpenRouter",
        "messages.*.name": "Mistral wants the tool's name with its result",
        "provider": "routing of OpenRouter (compat.openRouterRouting)",
        "providerOptions": "routing of the Vercel gateway (compat.vercelGatewayRouting)",
        "reasoning": "thinking at OpenRouter",
        "thinking": "thinking at Z.ai, Moonshot and DeepSeek",
        "enable_thinking": "thinking at Qwen",
        "chat_template_kwargs": "thinking at NVIDIA NIM",
    },
    "openai-responses": {},
    "anthropic-messages": {},
    "google-generative-ai": {},
}


def forbidding(annotation, seen=None):
    """Makes every type below one refuse keys it does not name, as the vendors do."""
    seen = set() if seen is None else seen
    if typing.is_typeddict(annotation) or (isinstance(annotation, type) and hasattr(annotation, "__total__")):
        if annotation in seen:
            return
        seen.add(annotation)
        annotation.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        for hint in typing.get_type_hints(annotation, include_extras=True).values():
            forbidding(hint, seen)
        return
    # Anthropic's types also take what an answer held; those are models, which let any key through.
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        if annotation in seen:
            return
        seen.add(annotation)
        for field in annotation.model_fields.values():
            forbidding(field.annotation, seen)
        annotation.model_config["extra"] = "forbid"
        annotation.model_rebuild(force=True)
        return
    for part in typing.get_args(annotation):
        forbidding(part, seen)


def adapter(params):
    forbidding(params)
    return pydantic.TypeAdapter(params)


ADAPTERS = {
    "openai-completions": adapter(chat_params.CompletionCreateParamsStreaming),
    "openai-responses": adapter(responses_params.ResponseCreateParamsStreaming),
    "anthropic-messages": adapter(anthropic_params.MessageCreateParamsStreaming),
}


class GeminiRequest(pydantic.BaseModel):
    """The body of `streamGenerateContent`. The SDK has types for its parts; how they are put together is documented."""

    model_config = pydantic.ConfigDict(extra="forbid", alias_generator=pydantic.alias_generators.to_camel)
    contents: list[genai.Content]
    system_instruction: genai.Content | None = None
    tools: list[genai.Tool] | None = None
    tool_config: genai.ToolConfig | None = None
    safety_settings: list[genai.SafetySetting] | None = None
    generation_config: genai.GenerationConfig | None = None
    cached_content: str | None = None


def place_of(location):
    """`messages.3.content.0` as `messages.*.content.*`, without the names of the types that were tried."""
    parts = []
    for part in location:
        if isinstance(part, int):
            parts.append("*")
        elif not any(char in part for char in "[(,-") and not part[:1].isupper():
            parts.append(part)
    return ".".join(parts)


def without_allowed(wire, value, place="", found=None):
    """The body without the fields of ALLOWED; a type is asked about the rest."""
    if isinstance(value, dict):
        kept = {}
        for key, child in value.items():
            here = f"{place}.{key}" if place else key
            if here not in ALLOWED[wire]:
                kept[key] = without_allowed(wire, child, here)
        return kept
    if isinstance(value, list):
        return [without_allowed(wire, child, f"{place}.*") for child in value]
    return value


def problems(wire, body):
    """What the vendor's types say against a body; empty when nothing."""
    body = without_allowed(wire, body)
    try:
        if wire == "google-generative-ai":
            # The service takes both spellings, and its SDK sends both.
            GeminiRequest.model_validate(body, by_alias=True, by_name=True)
        else:
            # Iterables are validated only when somebody walks them.
            walk(ADAPTERS[wire].validate_python(body, strict=False))
    except pydantic.ValidationError as error:
        return sorted({f"{place_of(it['loc'])}: {it['msg']}" for it in error.errors(include_url=False)})
    return []


def walk(value):
    if isinstance(value, dict):
        for child in value.values():
            walk(child)
    elif not isinstance(value, (str, bytes, int, float, type(None))) and hasattr(value, "__iter__"):
        for child in value:
            walk(child)


def main(folder):
    seen, failed, counts = set(), 0, {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            digest = hashlib.sha256(line.encode()).digest()
            if digest in seen:
                continue
            seen.add(digest)
            request = json.loads(line)
            wire, body = request["head"]["wire"], request["body"]
            name = wire if body is not None else f"{wire}, too large to keep"
            counts[name] = counts.get(name, 0) + 1
            found = [] if body is None else problems(wire, body)
            if found:
                failed += 1
                if failed <= 20:
                    print(f"{path.name}: {wire} {request['head']['path']}", *found[:8], sep="\n  ", file=sys.stderr)
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "no request was kept")
    if failed:
        print(f"error: {failed} requests are not what the vendor's types say", file=sys.stderr)
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
