import type { ExtensionProblem, Tool } from '../../contracts/index.ts'
import { checkTools } from '../../runtime/index.ts'
import { showValue } from '../../util/show-value.ts'

interface OfferedTools {
  /** By their own names. */
  readonly tools: ReadonlyMap<string, Tool>
  readonly problems: readonly ExtensionProblem[]
}

/** The longest name of a tool that all providers accept. */
const maxName = 64

const fullName = (id: string, tool: string): string => `${id}__${tool}`

/** Checks what `getTools` returned. A wrong tool costs only itself. */
export function checkOfferedTools(id: string, given: unknown): OfferedTools {
  const place = `${id}.getTools()`
  const tools = new Map<string, Tool>()
  if (!Array.isArray(given))
    return { tools, problems: [{ place, message: `expected a list of tools, found ${showValue(given)}`, remedy: 'Return an array.' }] }
  const problems = given.flatMap((tool: Tool, index) => {
    const here = `${place}[${index}]`
    // A name is unique inside of the extension only, and reserved names have no prefix.
    const wrong = checkTools([tool], place).flatMap((problem) =>
      problem.place.endsWith('].name') ? [] : [{ ...problem, place: problem.place.replace('[0]', `[${index}]`) }],
    )
    const name: unknown = tool?.name
    const valid = typeof name === 'string' && /^[\w-]+$/.test(name) && fullName(id, name).length <= maxName
    if (wrong.length === 0 && !valid)
      wrong.push({
        place: here,
        message: `${showValue(name)} is not a valid name`,
        remedy: `Use at most ${maxName - id.length - 2} letters, digits, \`_\` and \`-\`.`,
      })
    else if (wrong.length === 0 && tools.has(tool.name))
      wrong.push({ place: here, message: `there are two tools "${tool.name}"`, remedy: 'Rename one of them.' })
    if (wrong.length === 0) tools.set(tool.name, tool)
    return wrong
  })
  return { tools, problems }
}

interface ToolCalls {
  /** The tool of the running process, which may have been restarted. */
  current(name: string): Tool | undefined
  run<Result>(stage: string, work: () => Result): Result
}

/** The tool under its full name. Its methods are called on the original, which may be an instance of a class. */
export function offerTool(id: string, tool: Tool, { current, run }: ToolCalls): Tool {
  const now = (): Tool => current(tool.name) ?? tool
  const { description, inputSchema, instructions, effect, concurrency, repeatable, timeoutMs, graceMs, requires, queue } = tool
  const optional = { instructions, effect, concurrency, repeatable, timeoutMs, graceMs, requires, queue }
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    name: fullName(id, tool.name),
    namespace: id,
    description,
    inputSchema,
    ...(tool.unavailable && { unavailable: (confinement) => now().unavailable?.(confinement) }),
    ...(tool.approval && { approval: (input) => now().approval?.(input) }),
    ...(tool.view && { view: (input) => now().view?.(input) ?? { type: 'tool_call' } }),
    execute: (input, context) => run(`tool ${tool.name}`, () => now().execute(input, context)),
  }
}
