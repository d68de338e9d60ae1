// What the scripted provider reads from a request of each protocol, and how it writes a reply.
// A conversation: { tools: [{ name, kind, properties }], turns: [{ role, text }] }; the role of a result of a call is `result`.
// A reply: { id, text, calls: [{ id, name, kind, input }] }. Claude Code merges replies with the same id.

export const formats = [
  { ending: '/chat/completions', read: readChat, body: chatBody, events: chatEvents },
  { ending: '/responses', read: readResponses, body: responsesBody, events: responsesEvents },
  { ending: '/messages', read: readMessages, body: messagesBody, events: messagesEvents },
]

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? textOf(part.content ?? [])).join('\n')
const functionTool = (name, { properties = {} } = {}) => ({ name, kind: 'function', properties: Object.keys(properties) })
/** Two halves: a client that does not join deltas fails. */
const halves = (text) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]

function readChat({ tools = [], messages }) {
  return {
    tools: tools.filter(({ type }) => type === 'function').map((tool) => functionTool(tool.function.name, tool.function.parameters)),
    turns: messages.map(({ role, content }) => ({ role: role === 'tool' ? 'result' : role, text: textOf(content) })),
  }
}

function chatCall({ id, name, input }) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
const chatFinish = (reply) => (reply.calls.length > 0 ? 'tool_calls' : 'stop')

function chatBody(reply, model) {
  const message = {
    role: 'assistant',
    content: reply.text,
    ...(reply.calls.length > 0 && { tool_calls: reply.calls.map(chatCall) }),
  }
  return {
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: chatFinish(reply) }],
    usage: chatUsage,
  }
}

function chatEvents(reply, model) {
  const chunk = (delta, finish_reason = null) => ({
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const calls = reply.calls.flatMap((call, index) => {
    const whole = chatCall(call)
    return [
      chunk({ tool_calls: [{ index, ...whole, function: { name: call.name, arguments: '' } }] }),
      ...halves(whole.function.arguments).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...halves(reply.text).map((content) => chunk({ content })),
    ...calls,
    chunk({}, chatFinish(reply)),
    { ...chunk({}), choices: [], usage: chatUsage },
    '[DONE]',
  ].map((data) => ({ data }))
}

function readResponses({ tools = [], input }) {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return {
    tools: tools.flatMap(({ type, name, parameters }) => {
      if (type === 'custom') return [{ name, kind: type }]
      return type === 'function' ? [functionTool(name, parameters)] : []
    }),
    turns: items.flatMap((item) => {
      if (item.role) return [{ role: item.role, text: textOf(item.content) }]
      return item.type.endsWith('_call_output') ? [{ role: 'result', text: textOf(item.output) }] : []
    }),
  }
}

function responsesItem({ id: call_id, name, kind, input }) {
  if (kind === 'custom') return { type: 'custom_tool_call', id: `ctc_${call_id}`, status: 'completed', call_id, name, input }
  return { type: 'function_call', id: `fc_${call_id}`, status: 'completed', call_id, name, arguments: JSON.stringify(input) }
}

function responsesOutput(reply) {
  const content = [{ type: 'output_text', text: reply.text, annotations: [] }]
  return [{ type: 'message', id: `msg_${reply.id}`, role: 'assistant', status: 'completed', content }, ...reply.calls.map(responsesItem)]
}

function responsesBody(reply, model) {
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model,
    output: responsesOutput(reply),
    parallel_tool_calls: true,
    tools: [],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 120,
    },
  }
}

function responsesEvents(reply, model) {
  const completed = responsesBody(reply, model)
  const begun = { ...completed, status: 'in_progress', output: [], usage: null }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...completed.output.flatMap((item, output_index) => itemEvents(item, output_index)),
    { type: 'response.completed', response: completed },
  ]
  return events.map((event, sequence_number) => ({ event: event.type, data: { ...event, sequence_number } }))
}

function itemEvents(item, output_index) {
  const at = { item_id: item.id, output_index }
  const done = { type: 'response.output_item.done', output_index, item }
  const added = (start) => ({ type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...start } })
  if (item.type === 'message') {
    const [part] = item.content
    const inPart = { ...at, content_index: 0 }
    return [
      added({ content: [] }),
      { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } },
      ...halves(part.text).map((delta) => ({ type: 'response.output_text.delta', ...inPart, delta })),
      { type: 'response.output_text.done', ...inPart, text: part.text },
      { type: 'response.content_part.done', ...inPart, part },
      done,
    ]
  }
  const [name, key] = item.type === 'custom_tool_call' ? ['custom_tool_call_input', 'input'] : ['function_call_arguments', 'arguments']
  return [
    added({ [key]: '' }),
    ...halves(item[key]).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
    { type: `response.${name}.done`, ...at, [key]: item[key] },
    done,
  ]
}

function readMessages({ tools = [], messages }) {
  return {
    tools: tools.filter((tool) => tool.input_schema).map(({ name, input_schema }) => functionTool(name, input_schema)),
    turns: messages.flatMap(({ role, content }) => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
      const results = parts.filter(({ type }) => type === 'tool_result')
      const texts = parts.filter(({ type }) => type === 'text')
      return [
        ...results.map((result) => ({ role: 'result', text: textOf(result.content) })),
        ...(texts.length > 0 ? [{ role, text: textOf(texts) }] : []),
      ]
    }),
  }
}

function messagesBody(reply, model) {
  return {
    id: `msg_${reply.id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: reply.text }, ...reply.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))],
    stop_reason: reply.calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20 },
  }
}

function messagesEvents(reply, model) {
  const { content, stop_reason, usage, ...rest } = messagesBody(reply, model)
  const blocks = content.flatMap((block, index) => {
    const isText = block.type === 'text'
    const deltas = isText
      ? halves(block.text).map((text) => ({ type: 'text_delta', text }))
      : halves(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) } },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
  })
  const events = [
    { type: 'message_start', message: { ...rest, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output_tokens } },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ event: data.type, data }))
}
