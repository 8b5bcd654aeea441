"""Writes streams built from the event types of the vendors' own SDKs, and what the SDKs make of them.

    streams.py      one JSON line a case: wire, name, sse, expect

Each case is one order that the vendor's documentation allows: blocks in every order, calls in parallel with their pieces
mixed, pings and empty pieces between, counts early or late. `expect` comes from the SDK's own accumulator wherever it has
one. omp's decoders have to read the same out of every one of them, wherever the bytes are cut.
"""

import itertools
import json

import anthropic.types as at
from anthropic.lib.streaming._messages import accumulate_event
from google.genai import types as genai
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

ARGUMENTS = {"path": "ä/b.txt", "lines": [1, 2], "deep": {"a": None, "b": "\\ \"q\" \n"}}
CALLS = [("read", json.dumps(ARGUMENTS, ensure_ascii=False)), ("list", "{}")]
TEXT = ["Hel", "lo ", "wörld 🙂", "\n\nend"]
THOUGHT = ["Let me ", "think."]


def pieces(text, count):
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]


def case(wire, name, sse, expect):
    print(json.dumps({"wire": wire, "name": name, "sse": sse, "expect": expect}))


def expected(text, thinking, calls, stop, usage):
    calls = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {"text": text, "thinking": thinking, "calls": calls, "stop": stop, "usage": usage}


def mixes(first, second, most=12):
    """Ways to mix two lists that keep the order of each; the first of `first` stays in front."""
    total = len(first) + len(second) - 1
    picked = list(itertools.combinations(range(total), len(second)))
    step = max(1, len(picked) // most)
    for places in picked[::step]:
        one, two = iter(first[1:]), iter(second)
        yield [first[0]] + [next(two) if at in places else next(one) for at in range(total)]


# OpenAI chat completions


def chunk(delta, finish=None, usage=None, choices=True):
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice] if choices else [],
        "usage": usage,
    }
    return ChatCompletionChunk.model_validate(value)


CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 30},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def chat_call(index, first_whole):
    name, arguments = CALLS[index]
    parts = pieces(arguments, 4)
    head = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": ""}}
    if first_whole:
        head["function"]["arguments"] = parts.pop(0)
    more = [{"index": index, "function": {"arguments": part}} for part in parts]
    return [{"tool_calls": [piece]} for piece in [head, *more]]


def chat_orders():
    role = {"role": "assistant", "content": ""}
    text = [{"content": part} for part in TEXT]
    yield "text", [role, *text], "stop"
    yield "text without a role of its own", [{"role": "assistant", "content": TEXT[0]}, *text[1:]], "stop"
    yield "cut short", [role, *text], "length"
    for whole in (False, True):
        one, two = chat_call(0, whole), chat_call(1, whole)
        yield f"calls {whole}", [role, *one, *two], "tool_calls"
        yield f"text then calls {whole}", [role, *text, *one, *two], "tool_calls"
        for number, mixed in enumerate(mixes(one, two)):
            yield f"calls mixed {whole} {number}", [role, *mixed], "tool_calls"
        together = {"tool_calls": [one[0]["tool_calls"][0], two[0]["tool_calls"][0]]}
        yield f"calls begun together {whole}", [role, together, *one[1:], *two[1:]], "tool_calls"
    for number, mixed in enumerate(mixes(text, chat_call(0, True))):
        yield f"text mixed with a call {number}", [role, *mixed], "tool_calls"


def chat():
    for name, deltas, finish in chat_orders():
        for late in ("own", "with the end", "none after"):
            chunks = [chunk(delta) for delta in deltas]
            if late == "with the end":
                chunks.append(chunk({}, finish, CHAT_USAGE))
            elif late == "own":
                chunks += [chunk({}, finish), chunk({}, usage=CHAT_USAGE, choices=False)]
            else:
                chunks[-1] = chunk(deltas[-1], finish)
                chunks.append(chunk({}, usage=CHAT_USAGE, choices=False))
            state = ChatCompletionStreamState()
            for it in chunks:
                state.handle_chunk(it)
            final = state.get_final_completion() if finish != "length" else state.current_completion_snapshot
            message = final.choices[0].message
            calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
            sse = "".join(f"data: {it.model_dump_json(exclude_unset=True)}\n\n" for it in chunks) + "data: [DONE]\n\n"
            stop = {"stop": "stop", "length": "length", "tool_calls": "toolUse"}[final.choices[0].finish_reason]
            usage = [final.usage.prompt_tokens - 30, 30, final.usage.completion_tokens]
            case("openai-completions", f"{name}, counts {late}", sse, expected(message.content or "", "", calls, stop, usage))


# OpenAI responses


EVENT = TypeAdapter(ResponseStreamEvent)


def response(status, output, **more):
    value = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": None,
        "top_p": None,
    }
    value.update(more)
    return value


RESPONSES_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}


def reasoning_item(index):
    text = "".join(THOUGHT)
    whole = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "x"}
    about = {"item_id": "rs_1", "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": ""}
    events = [{"type": "response.output_item.added", "output_index": index, "item": {**whole, "summary": []}}]
    events.append({"type": "response.reasoning_summary_part.added", **about, "part": part})
    events += [{"type": "response.reasoning_summary_text.delta", **about, "delta": it} for it in THOUGHT]
    events.append({"type": "response.reasoning_summary_text.done", **about, "text": text})
    events.append({"type": "response.reasoning_summary_part.done", **about, "part": {**part, "text": text}})
    events.append({"type": "response.output_item.done", "output_index": index, "item": whole})
    return events, whole


def message_item(index):
    text = "".join(TEXT)
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{**part, "text": text}],
    }
    about = {"item_id": "msg_1", "output_index": index, "content_index": 0}
    begun = {**whole, "status": "in_progress", "content": []}
    events = [{"type": "response.output_item.added", "output_index": index, "item": begun}]
    events.append({"type": "response.content_part.added", **about, "part": part})
    events += [{"type": "response.output_text.delta", **about, "delta": it, "logprobs": []} for it in TEXT]
    events.append({"type": "response.output_text.done", **about, "text": text, "logprobs": []})
    events.append({"type": "response.content_part.done", **about, "part": whole["content"][0]})
    events.append({"type": "response.output_item.done", "output_index": index, "item": whole})
    return events, whole


def call_item(index, number):
    name, arguments = CALLS[number]
    whole = {
        "id": f"fc_{number}",
        "type": "function_call",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }
    about = {"item_id": whole["id"], "output_index": index}
    begun = {**whole, "status": "in_progress", "arguments": ""}
    events = [{"type": "response.output_item.added", "output_index": index, "item": begun}]
    events += [{"type": "response.function_call_arguments.delta", **about, "delta": it} for it in pieces(arguments, 4)]
    events.append({"type": "response.function_call_arguments.done", **about, "arguments": arguments, "name": name})
    events.append({"type": "response.output_item.done", "output_index": index, "item": whole})
    return events, whole


def responses_orders():
    kinds = {"think": reasoning_item, "say": message_item, "read": lambda at: call_item(at, 0), "list": lambda at: call_item(at, 1)}
    for names in [("say",), ("think", "say"), ("think", "read"), ("read", "list"), ("say", "read", "list"), ("read", "say"), ("think", "say", "read", "list")]:
        made = [kinds[name](index) for index, name in enumerate(names)]
        yield " ".join(names), [event for events, _ in made for event in events], [whole for _, whole in made]
    (one, first), (two, second) = call_item(0, 0), call_item(1, 1)
    for number, mixed in enumerate(mixes(one, two)):
        yield f"calls mixed {number}", mixed, [first, second]
    (one, first), (two, second) = message_item(0), call_item(1, 0)
    for number, mixed in enumerate(mixes(one, two)):
        yield f"text mixed with a call {number}", mixed, [first, second]


def responses():
    for name, events, output in responses_orders():
        for status in ("completed", "incomplete"):
            details = {"reason": "max_output_tokens"} if status == "incomplete" else None
            final = response(status, output, usage=RESPONSES_USAGE, incomplete_details=details)
            start = {"type": "response.created", "response": response("in_progress", [])}
            progress = {"type": "response.in_progress", "response": response("in_progress", [])}
            end = {"type": f"response.{status}", "response": final}
            lines = []
            for number, event in enumerate([start, progress, *events, end]):
                typed = EVENT.validate_python({**event, "sequence_number": number})
                lines.append(f"event: {typed.type}\ndata: {typed.model_dump_json(exclude_unset=True)}\n\n")
            parsed = Response.model_validate(final)
            calls = [(it.name, json.loads(it.arguments)) for it in parsed.output if it.type == "function_call"]
            thoughts = [part.text for it in parsed.output if it.type == "reasoning" for part in it.summary]
            stop = "length" if status == "incomplete" else "toolUse" if calls else "stop"
            case(
                "openai-responses",
                f"{name}, {status}",
                "".join(lines),
                expected(parsed.output_text, "".join(thoughts), calls, stop, [70, 30, 20]),
            )


# Anthropic messages


MESSAGE_EVENT = TypeAdapter(at.RawMessageStreamEvent)


def anthropic_blocks():
    text = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": it} for it in TEXT])
    signed = [{"type": "signature_delta", "signature": "c2ln"}]
    thought = (
        {"type": "thinking", "thinking": "", "signature": ""},
        [{"type": "thinking_delta", "thinking": it} for it in THOUGHT] + signed,
    )
    hidden = ({"type": "redacted_thinking", "data": "x"}, [])
    calls = []
    for number, (name, arguments) in enumerate(CALLS):
        parts = [""] + (pieces(arguments, 4) if number == 0 else [])
        deltas = [{"type": "input_json_delta", "partial_json": it} for it in parts]
        calls.append(({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}, deltas))
    return {"say": text, "think": thought, "hide": hidden, "read": calls[0], "list": calls[1]}


def anthropic():
    blocks = anthropic_blocks()
    orders = [("say",), ("hide", "say")]
    orders += list(itertools.permutations(("think", "say", "read", "list")))
    orders += list(itertools.permutations(("say", "read")))
    for names in orders:
        for pings in (False, True):
            usage = {"input_tokens": 70, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0, "output_tokens": 1}
            message = {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            }
            events = [{"type": "message_start", "message": message}]
            for index, name in enumerate(names):
                block, deltas = blocks[name]
                events.append({"type": "content_block_start", "index": index, "content_block": block})
                events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
                events.append({"type": "content_block_stop", "index": index})
            reason = "tool_use" if {"read", "list"} & set(names) else "end_turn"
            events.append(
                {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 20}}
            )
            events.append({"type": "message_stop"})
            snapshot, lines, buffers = None, [], {}
            for event in events:
                typed = MESSAGE_EVENT.validate_python(event)
                snapshot = accumulate_event(event=typed, current_snapshot=snapshot, json_bufs=buffers)
                if pings:
                    lines.append('event: ping\ndata: {"type": "ping"}\n\n')
                lines.append(f"event: {typed.type}\ndata: {typed.model_dump_json(exclude_unset=True)}\n\n")
            text = "".join(it.text for it in snapshot.content if it.type == "text")
            thinking = "".join(it.thinking for it in snapshot.content if it.type == "thinking")
            calls = [(it.name, it.input) for it in snapshot.content if it.type == "tool_use"]
            stop = {"tool_use": "toolUse", "end_turn": "stop"}[snapshot.stop_reason]
            case(
                "anthropic-messages",
                f"{' '.join(names)}, pings {pings}",
                "".join(lines),
                expected(text, thinking, calls, stop, [70, 30, snapshot.usage.output_tokens]),
            )


# Gemini


def gemini():
    thoughts = [{"text": it, "thought": True} for it in THOUGHT]
    texts = [{"text": it} for it in TEXT]
    calls = [{"functionCall": {"name": "read", "args": ARGUMENTS}, "thoughtSignature": "c2ln"}, {"functionCall": {"id": "c1", "name": "list", "args": {}}}]
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 30,
        "candidatesTokenCount": 15,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 120,
    }
    orders = {"text": texts, "think text": thoughts + texts, "calls": calls, "all": thoughts + texts + calls, "calls between": texts[:2] + calls[:1] + texts[2:] + calls[1:]}
    for name, parts in orders.items():
        for size in range(1, len(parts) + 1):
            for late in ("always", "last", "own"):
                groups = [parts[at : at + size] for at in range(0, len(parts), size)]
                chunks = []
                for number, group in enumerate(groups):
                    last = number == len(groups) - 1
                    candidate = {"index": 0, "content": {"role": "model", "parts": group}}
                    if last and late != "own":
                        candidate["finishReason"] = "STOP"
                    value = {"candidates": [candidate], "responseId": "r", "modelVersion": "m"}
                    if late == "always" or (last and late == "last"):
                        value["usageMetadata"] = usage
                    chunks.append(value)
                if late == "own":
                    end = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
                    chunks.append({"candidates": [end], "usageMetadata": usage, "responseId": "r", "modelVersion": "m"})
                text, thinking, found, lines = "", "", [], []
                for value in chunks:
                    typed = genai.GenerateContentResponse.model_validate(value)
                    for part in typed.candidates[0].content.parts:
                        if part.function_call:
                            found.append((part.function_call.name, part.function_call.args))
                        elif part.thought:
                            thinking += part.text
                        else:
                            text += part.text or ""
                    counts = typed.usage_metadata or None
                    dumped = typed.model_dump_json(by_alias=True, exclude_none=True)
                    lines.append(f"data: {dumped}\r\n\r\n")
                output = counts.candidates_token_count + counts.thoughts_token_count
                tokens = [counts.prompt_token_count - 30, counts.cached_content_token_count, output]
                stop = "toolUse" if found else "stop"
                case("google-generative-ai", f"{name} by {size}, counts {late}", "".join(lines), expected(text, thinking, found, stop, tokens))


if __name__ == "__main__":
    chat()
    responses()
    anthropic()
    gemini()
