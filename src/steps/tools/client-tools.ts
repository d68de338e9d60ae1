import {
  type AgentChanges,
  type AgentSpec,
  type BroughtTool,
  type ClientTool,
  clientNameOf,
  clientToolName,
  type InputPart,
  type JsonObject,
  type Tool,
  type ToolOutput,
  type ToolPart,
} from '../../contracts/index.ts'
import { blobOfInput } from '../../core/index.ts'
import { fromBase64 } from '../../util/encode-bytes.ts'
import type { ToolRegistry } from './tool-registry.ts'

// A call of a client's tool is an ordinary call whose first attempt asks for the result, and whose second one returns it. So it is
// durable, resumed and accounted for like every other call, and nothing of it runs here.

const known = new WeakMap<ToolRegistry, WeakMap<readonly ClientTool[], ToolRegistry>>()

/** The tools of the agent of a session, with those that its client brings. */
export function withClientTools(registry: ToolRegistry, { tools: allowlist }: AgentSpec, changes: AgentChanges | undefined): ToolRegistry {
  const { clientTools = [] } = changes ?? {}
  if (clientTools.length === 0) return registry
  const before = known.get(registry) ?? new WeakMap()
  known.set(registry, before)
  const found = before.get(clientTools) ?? registry.forClient(allowlist, (isTaken) => clientTools.map((tool) => clientTool(tool, isTaken)))
  before.set(clientTools, found)
  return found
}

/** For a call whose client does not bring the tool any more, but has its result. */
export const returnedByClient = (offered: string): Tool =>
  clientTool({ name: clientNameOf(offered), description: '', inputSchema: {} }, () => false)

const resultId = 'result'

const clientTool = ({ name, description, inputSchema }: ClientTool, isTaken: (name: string) => boolean): BroughtTool => ({
  name: clientToolName(name, isTaken),
  description,
  inputSchema,
  runsInClient: true,
  namespace: 'client',
  repeatable: true,
  execute(_, { answers }) {
    const answer = answers?.[resultId]
    if (!answer) return { ok: false, error: notReturned, ask: { questions: { [resultId]: { text: name } } } }
    return answer.kind === 'accept' ? outputOf(answer.text, answer.content ?? {}) : { ok: false, error: notReturned }
  },
})

const notReturned = { class: 'cancelled', message: 'The client did not return a result.' } as const

function outputOf(text: string, { ok, parts }: JsonObject): ToolOutput {
  const given = Array.isArray(parts) && parts.length > 0 && { parts: (parts as unknown as readonly InputPart[]).map(toolPart) }
  if (ok === true) return { ok, content: text, ...given }
  return { ok: false, error: { class: 'failed', message: text === '' ? 'The tool of the client failed.' : text }, ...given }
}

/** Bytes are stored with the result: `output-parts.ts` reads such a part, too. */
function toolPart(part: InputPart): ToolPart {
  if (part.type === 'text') return part
  const { type, mediaType, data, bytes = 0 } = part
  const blob = blobOfInput(part)
  return blob === undefined ? { type, mediaType, data: fromBase64(data) } : ({ type, mediaType, blob, bytes } as object as ToolPart)
}
