import {
  type AttemptContext,
  type CallRecord,
  type JsonObject,
  type Model,
  type ModelPart,
  type ModelRequest,
  type ToolFailure,
  TroupeError,
} from '../../../contracts/index.ts'
import { offeredName } from '../../../policy/tool-name-patterns.ts'
import { createWorkspaceTools, mcpOptionsOf } from '../../../project/index.ts'
import { createAgentRuntime, systemClock } from '../../../runtime/index.ts'
import { isPlainObject } from '../../../util/json-schema/schema-values.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { McpInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printError } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { chooseApprover } from '../asking/terminal-approver.ts'
import { commandError } from '../output/error-documents.ts'
import { projectServers, trustedServer, usableServer } from './project-servers.ts'

/** `troupe mcp call NAME TOOL [JSON]`: rules, hooks and approval as in a run, without a model. */
export async function callServerTool(invocation: McpInvocation, host: Host): Promise<number> {
  const { name = '', tool = '', input = '{}', allow, output, display, ...options } = invocation
  if (tool === '')
    throw new TroupeError('usage', 'The tool is missing.', {
      remedy: `Name one: troupe mcp call ${name} TOOL. To list them: troupe mcp show ${name}`,
    })
  const parsed = parseInput(input)
  const project = await projectServers(host, options)
  const server = trustedServer(project, name, options.agentFile)
  const { settings, secrets } = usableServer(server, project.setup)
  const { config, workingDirectory } = project.setup
  // Only for its name in rules.
  const owners = server.owner ? [{ ...server.owner, definition: { ...server.owner.definition, tools: [], skills: [] } }] : []
  const { shared, hooks } = await createWorkspaceTools(owners, {
    place: host,
    config,
    workingDirectory,
    allow,
    deny: [],
    dryRun: false,
    hidden: [],
  })
  const approver = chooseApprover(host, 'deny')
  const wanted = `${name}/${tool}`
  const runtime = createAgentRuntime({
    config: {
      agents: [
        {
          name: 'call',
          description: 'Calls one tool',
          prompt: 'Call the tool.',
          model: 'call',
          tools: [`${name}/*`],
          limits: { maxOutputBytes },
        },
      ],
      mcpServers: { [name]: { ...settings, required: true } },
      approvals: shared.approvals ?? [],
    },
    adapter: { resolve: () => callingModel(offeredName(wanted), parsed), secrets },
    approver,
    hooks,
    clock: systemClock,
    mcp: mcpOptionsOf(host, project.setup),
  })
  try {
    const handle = runtime.stream(`Call ${wanted}`)
    let record: CallRecord | undefined
    for await (const event of handle) {
      approver.onEvent(event)
      if (event.type === 'interaction.item.completed' && event.item.kind === 'call') record = event.item
    }
    const outcome = await handle.outcome
    if (!record)
      throw new TroupeError('tools_unavailable', outcome.message ?? 'The tool was not called.', {
        ...(outcome.remedy !== undefined && { remedy: outcome.remedy }),
      })
    return await report(record, { wanted, host, output, display })
  } finally {
    await runtime.close()
  }
}

function parseInput(written: string): JsonObject {
  try {
    const value: unknown = JSON.parse(written)
    if (isPlainObject(value)) return value as JsonObject
  } catch (error) {
    throw new TroupeError('usage', `The input is not JSON: ${messageOf(error)}`, { remedy: `Write it like '{"query": "trains"}'.` })
  }
  throw new TroupeError('usage', 'The input must be a JSON object.', { remedy: `Write it like '{"query": "trains"}'.` })
}

/** The whole output is printed. */
const maxOutputBytes = 64 * 1024 ** 2

/** Asks for one call, and then ends. */
function callingModel(name: string, input: JsonObject): Model {
  return {
    id: 'troupe/call',
    abilities: ['tools'],
    async *stream({ messages }: ModelRequest, _: AttemptContext): AsyncGenerator<ModelPart> {
      const isDone = messages.some(({ role }) => role === 'tool')
      if (isDone) yield { type: 'text', text: 'Done.' }
      else yield { type: 'call', id: 'call_1', name, input: JSON.stringify(input) }
      yield { type: 'finish', reason: isDone ? 'stop' : 'tool-calls' }
    },
  }
}

interface Reporting extends Pick<McpInvocation, 'output' | 'display'> {
  readonly wanted: string
  readonly host: Host
}

async function report(record: CallRecord, { wanted, host, output, display }: Reporting): Promise<number> {
  const { status, content, value, parts } = record
  const error = record.error && { ...record.error, message: wholeMessage(record.error, content) }
  const isDone = status === 'completed'
  const isDenied = status === 'declined'
  const { code } = isDone ? exitCodes.done : isDenied ? exitCodes.approval : exitCodes.failed
  const remedy = isDenied ? `To approve it: --allow '${wanted}'` : error?.remedy
  if (output === 'json') {
    const result = { tool: wanted, content, ...(value !== undefined && { value }), ...(parts && { parts }) }
    const failure = commandError({ code: isDenied ? 'denied' : 'command_failed', message: error?.message ?? content, remedy })
    if (isDone) await printDocument(result, host)
    else await host.stdout.line(safeJson({ ok: false, error: failure, ...result, ...(error && { class: error.class }), exitCode: code }))
    return code
  }
  if (isDone) await host.stdout.line(printableLines(content))
  else {
    const message = error?.message ?? content
    const details = message.trim().split('\n').slice(1)
    await printError({ message: message.trim(), details, problems: [], remedy }, { host, display })
  }
  return code
}

/** The message of a record is shortened. Its content is what a model sees: the whole message, then the remedy. */
function wholeMessage({ message, remedy = '' }: ToolFailure, content: string): string {
  const start = content.indexOf(message)
  const text = start === -1 ? message : content.slice(start)
  return remedy !== '' && text.endsWith(remedy) ? text.slice(0, -remedy.length).trimEnd() : text
}

const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')
