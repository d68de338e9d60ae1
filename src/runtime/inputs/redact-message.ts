import type {
  AgentChanges,
  CallResult,
  ClientTool,
  InputPart,
  Json,
  JsonObject,
  Message,
  OutputPart,
  ReplyPart,
} from '../../contracts/index.ts'
import type { Redactor } from '../../util/redact.ts'

/** Redacts texts, arguments, results and metadata. Bytes are redacted when they are stored. */
export function redactMessage(message: Message, redactor: Redactor): Message {
  switch (message.role) {
    case 'user':
      return { ...message, parts: message.parts.map((part) => redactInput(part, redactor)) }
    case 'assistant':
      return { ...message, parts: message.parts.map((part) => redactReply(part, redactor)) }
    case 'tool':
      return { ...message, results: message.results.map((result) => redactResult(result, redactor)) }
    default:
      return message satisfies never
  }
}

export function redactChanges(changes: AgentChanges | undefined, redactor: Redactor): AgentChanges | undefined {
  if (!changes) return undefined
  const { instructions, clientTools } = changes
  return {
    ...changes,
    ...(instructions !== undefined && { instructions: redactor.text(instructions) }),
    ...(clientTools && { clientTools: clientTools.map((tool) => redactTool(tool, redactor)) }),
  }
}

/** Models and the journal get the same. */
const redactTool = ({ name, description, inputSchema }: ClientTool, redactor: Redactor): ClientTool => ({
  name,
  description: redactor.text(description),
  inputSchema: redactor.json(inputSchema as JsonObject) as JsonObject,
})

const redactInput = (part: InputPart, redactor: Redactor): InputPart =>
  part.type === 'text' ? { ...part, text: redactor.text(part.text) } : part

function redactReply(part: ReplyPart, redactor: Redactor): ReplyPart {
  const metadata = part.metadata && { metadata: redactor.json(part.metadata as Json) as JsonObject }
  if (part.type === 'call') return { ...part, input: redactor.text(part.input), ...metadata }
  return { ...part, text: redactor.text(part.text), ...metadata }
}

function redactResult(result: CallResult, redactor: Redactor): CallResult {
  const { parts } = result
  return {
    ...result,
    content: redactor.text(result.content),
    ...(parts && { parts: parts.map((part) => redactOutput(part, redactor)) }),
  }
}

function redactOutput(part: OutputPart, redactor: Redactor): OutputPart {
  if (part.type === 'text') return { ...part, text: redactor.text(part.text) }
  const name = part.name !== undefined && { name: redactor.text(part.name) }
  return part.type === 'link' ? { ...part, ...name, uri: redactor.text(part.uri) } : { ...part, ...name }
}
