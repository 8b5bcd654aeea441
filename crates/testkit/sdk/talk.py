"""Has the vendors' own SDKs talk to the fake server, to show that it takes what they send and speaks as they read.

    talk.py URL     one JSON line a wire: what the SDK made of the answer

Every wire gets a system prompt, a tool, a picture, an earlier call with its result, and asks for a stream. The test checks
what was sent with `validate.py`, which has to take it.
"""

import base64
import json
import sys

import anthropic
import openai
from google import genai
from google.genai import types

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
MODEL = "mock-model"


def tell(wire, text, thinking, calls):
    print(json.dumps({"wire": wire, "text": text, "thinking": thinking, "calls": calls}))


def with_anthropic(url):
    client = anthropic.Anthropic(api_key="k", base_url=url)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    body = {
        "model": MODEL,
        "max_tokens": 4000,
        "system": "Be brief.",
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "tools": [{"name": "read", "description": "Reads.", "input_schema": SCHEMA}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_x", "name": "read", "input": {"path": "a"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_x", "content": [image]}]},
        ],
    }
    with client.messages.stream(**body) as stream:
        final = stream.get_final_message()
    text = "".join(it.text for it in final.content if it.type == "text")
    thinking = "".join(it.thinking for it in final.content if it.type == "thinking")
    calls = [[it.name, it.input] for it in final.content if it.type == "tool_use"]
    tell("anthropic-messages", text, thinking, calls)


def with_chat(url):
    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1")
    call = {"id": "call_x", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    body = {
        "model": MODEL,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "low",
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": SCHEMA}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                ],
            },
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_x", "content": "alpha"},
        ],
    }
    thinking = ""
    with client.chat.completions.stream(**body) as stream:
        for event in stream:
            if event.type == "chunk" and event.chunk.choices:
                thinking += getattr(event.chunk.choices[0].delta, "reasoning_content", None) or ""
        message = stream.get_final_completion().choices[0].message
    calls = [[it.function.name, json.loads(it.function.arguments)] for it in message.tool_calls or []]
    tell("openai-completions", message.content, thinking, calls)


def with_responses(url):
    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1")
    body = {
        "model": MODEL,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "read", "description": "Reads.", "parameters": SCHEMA, "strict": False}],
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Look."},
                    {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"},
                ],
            },
            {"type": "function_call", "call_id": "call_x", "name": "read", "arguments": '{"path": "a"}'},
            {"type": "function_call_output", "call_id": "call_x", "output": "alpha"},
        ],
    }
    with client.responses.stream(**body) as stream:
        final = stream.get_final_response()
    thinking = "".join(part.text for it in final.output if it.type == "reasoning" for part in it.summary)
    calls = [[it.name, json.loads(it.arguments)] for it in final.output if it.type == "function_call"]
    tell("openai-responses", final.output_text, thinking, calls)


def with_gemini(url):
    client = genai.Client(api_key="k", http_options={"base_url": url})
    picture = types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    declaration = {"name": "read", "description": "Reads.", "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}}}
    contents = [
        types.Content(role="user", parts=[types.Part(text="Look."), picture]),
        types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="read", args={"path": "a"}))]),
        types.Content(
            role="user",
            parts=[types.Part(function_response=types.FunctionResponse(name="read", response={"output": "alpha"}))],
        ),
    ]
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level="LOW"),
        tools=[types.Tool(function_declarations=[declaration])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    text, thinking, calls = "", "", []
    for chunk in client.models.generate_content_stream(model=MODEL, contents=contents, config=config):
        for part in chunk.candidates[0].content.parts or []:
            if part.function_call:
                calls.append([part.function_call.name, part.function_call.args])
            elif part.thought:
                thinking += part.text
            else:
                text += part.text or ""
    tell("google-generative-ai", text, thinking, calls)


if __name__ == "__main__":
    for talk in (with_anthropic, with_chat, with_responses, with_gemini):
        talk(sys.argv[1])
