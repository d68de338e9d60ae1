// The tools of an extension that is not trusted: what it says about them decides nothing.
import {
  type ApprovalWish,
  type JsonSchema,
  type Tool,
  type ToolContext,
  type ToolFailure,
  type ToolOutput,
  type ToolPart,
  toolFailureClasses,
} from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText } from '../../util/well-formed.ts'
import type { ExtensionManifest } from '../shared/kernel-types.ts'
import {
  boolean,
  type Check,
  either,
  isText,
  json,
  jsonObject,
  list,
  number,
  oneOf,
  optional,
  record,
  ShapeError,
  text,
} from '../shared/value-shapes.ts'
import { defaultToolMs, maxDescriptionCharacters, maxSchemaBytes, maxToolMs, maxTools } from './process-limits.ts'
import type { CallFacts } from './runner/tool-calls.ts'

/** Calls a tool in the process. */
type CallTool = (
  call: { readonly name: string; readonly input: unknown; readonly facts: CallFacts },
  context: ToolContext,
  deadlineMs: number,
) => Promise<unknown>

const toolName = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/

const named: Check<string> = (value, place) => {
  const name = text(64)(value, place)
  if (!toolName.test(name)) throw new ShapeError(`${place} is not a name of letters, digits, \`_\` and \`-\``)
  return name
}

const inputSchema: Check<JsonSchema> = (value, place) => {
  const schema = { type: 'object', ...jsonObject(value, place) }
  if (JSON.stringify(schema).length > maxSchemaBytes) throw new ShapeError(`${place} is larger than ${maxSchemaBytes / 1024} KB`)
  const [problem] = checkSchema(schema, place, 'object')
  if (problem) throw new ShapeError(`${problem.place}: ${problem.message}`)
  return schema
}

const toolList = list(
  record({ name: named, description: text(), inputSchema, timeoutMs: optional(number), repeatable: optional(boolean) }),
  maxTools,
)

/** @throws ShapeError */
export function remoteTools(listed: unknown, manifest: ExtensionManifest, call: CallTool): readonly Tool[] {
  const specs = toolList(listed, 'getTools')
  const twice = specs.find(({ name }, index) => specs.findIndex((other) => other.name === name) < index)
  if (twice) throw new ShapeError(`getTools returns two tools with the name ${twice.name}`)
  return specs.map(({ name, description, inputSchema, timeoutMs = defaultToolMs, repeatable }): Tool => {
    const deadlineMs = Math.min(Math.max(timeoutMs, 1), maxToolMs)
    return {
      name,
      description: cutText(description, maxDescriptionCharacters),
      inputSchema,
      effect: 'write',
      concurrency: 'exclusive',
      ...(repeatable && { repeatable }),
      timeoutMs: deadlineMs,
      approval: () => approvalOf(name, manifest),
      async execute(input, context) {
        const { callId, attempt, remaining, maxOutputBytes, treeId, sessionId, agentPath, agent, messageId, principal } = context
        const facts = { callId, attempt, remaining, maxOutputBytes, treeId, sessionId, agentPath, agent, messageId, principal }
        try {
          return toolOutput(await call({ name, input, facts }, context, deadlineMs), `the result of ${name}`)
        } catch (error) {
          return { ok: false, error: { class: 'failed', message: `The extension "${manifest.id}" failed: ${messageOf(error)}` } }
        }
      },
    }
  })
}

function approvalOf(name: string, { id, permissions }: ExtensionManifest): ApprovalWish {
  const reach = Object.entries(permissions).flatMap(([kind, values]) => (values.length > 0 ? [`${kind}: ${values.join(', ')}`] : []))
  const label = `any tool of the extension ${id}, which is not trusted (${reach.join('; ') || 'no permissions'})`
  return { summary: `Call ${name} of the extension ${id}, which is not trusted`, keys: [{ key: `extension:${id}`, label }] }
}

const failure: Check<ToolFailure> = record({ class: oneOf(toolFailureClasses), message: text(4_000), remedy: optional(text(4_000)) })
const bytes: Check<Uint8Array> = (value, place) => new Uint8Array(Buffer.from(text(Number.POSITIVE_INFINITY)(value, place), 'base64'))
const linkPart = record({ type: oneOf(['link']), uri: text(2_000), name: optional(text(200)), mediaType: optional(text(100)) })
const textPart = record({ type: oneOf(['text']), text: text(Number.POSITIVE_INFINITY) })
const bytesPart = record({ type: oneOf(['image', 'audio', 'file']), mediaType: text(100), data: bytes, name: optional(text(200)) })
const isType = (type: string) => (value: unknown) => (value as { type?: unknown } | null)?.type === type
const parts: Check<readonly ToolPart[]> = list(either(isType('text'), textPart, either(isType('link'), linkPart, bytesPart)))
/** The message that carries it is limited. */
const anyText = text(Number.POSITIVE_INFINITY)

const toolOutput: Check<ToolOutput | string> = either(
  isText,
  anyText,
  either(
    (value) => (value as { ok?: unknown } | null)?.ok === true,
    record({ ok: () => true as const, content: anyText, parts: optional(parts), value: optional(json) }),
    record({ ok: () => false as const, error: failure, partial: optional(anyText), parts: optional(parts) }),
  ),
)
