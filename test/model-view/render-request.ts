import type { InputPart, Message, ModelRequest, ReplyPart, ToolSpec } from '../../src/contracts/index.ts'

// What models are shown, as a page that people can read: a change in it is a change of this page.

/** All requests of a turn. What a later one repeats is named, not shown again. */
export function renderRequests(requests: readonly ModelRequest[], title: string): string {
  const pages = requests.map((request, index) => `## Request ${index + 1}\n\n${renderRequest(request, requests[index - 1])}`)
  return `# ${title}\n\n${pages.join('\n\n')}\n`
}

/** One request; of what it has in common with the one before, only how much that is. */
export function renderRequest(request: ModelRequest, before?: ModelRequest): string {
  const { system, tools, messages, toolChoice, parameters, output } = request
  const settings = [
    `tools ${toolChoice}`,
    ...Object.entries(parameters).map(([key, value]) => `${key} ${JSON.stringify(value)}`),
    ...(output ? [`answer in JSON ${JSON.stringify(output)}`] : []),
  ]
  const same = before ? sharedMessages(messages, before.messages) : 0
  return [
    `_${settings.join(', ')}_`,
    before?.system === system ? '### System: as before' : `### System\n\n${quoted(system)}`,
    before && JSON.stringify(before.tools) === JSON.stringify(tools) ? '### Tools: as before' : toolsText(tools),
    ...(same > 0 ? [`### Messages 1 to ${same}: as before`] : []),
    ...messages.slice(same).map((message, index) => `### ${same + index + 1}. ${messageText(message)}`),
  ].join('\n\n')
}

function sharedMessages(messages: readonly Message[], before: readonly Message[]): number {
  const differs = messages.findIndex((message, index) => JSON.stringify(message) !== JSON.stringify(before[index]))
  return differs < 0 ? messages.length : differs
}

const toolsText = (tools: readonly ToolSpec[]): string =>
  tools.length === 0 ? '### Tools: none' : `### Tools\n\n${tools.map(toolText).join('\n')}`

const toolText = ({ name, description, inputSchema }: ToolSpec): string =>
  `- \`${name}\`: ${description.replaceAll('\n', '\n  ')}\n  \`${JSON.stringify(inputSchema)}\``

function messageText(message: Message): string {
  switch (message.role) {
    case 'user':
      return `user\n\n${message.parts.map(inputText).join('\n\n')}`
    case 'assistant':
      return `assistant\n\n${message.parts.map(replyText).join('\n\n')}`
    case 'tool':
      return `results\n\n${message.results.map(({ id, name, ok, content }) => `\`${name}\` (${id}) ${ok ? 'ok' : 'failed'}\n\n${quoted(content)}`).join('\n\n')}`
    default:
      return message satisfies never
  }
}

const inputText = (part: InputPart): string => (part.type === 'text' ? quoted(part.text) : `(${part.type}, ${part.mediaType})`)

function replyText(part: ReplyPart): string {
  if (part.type === 'call') return `calls \`${part.name}\` (${part.id}) with \`${part.input}\``
  return part.type === 'reasoning' ? `thinks\n\n${quoted(part.text)}` : quoted(part.text)
}

/** Long stretches of one letter are fillers of tests. */
const quoted = (text: string): string =>
  text
    .replaceAll(/(.)\1{40,}/g, (run, letter: string) => `${letter.repeat(3)}… (${run.length} letters)`)
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
