import type { JsonObject, Problem } from '../../contracts/index.ts'
import { checkShape } from '../../policy/check-shape.ts'
import { namedServers, serverShape } from '../../policy/mcp-server-shape.ts'
import { integer } from '../../policy/shape.ts'
import { anything, aString, checkOnlyFields, expectObject, type FieldType, isPlainRecord, optional } from '../../util/option-problems.ts'
import { checkSandbox } from './check-policies.ts'

/** Programs give milliseconds. */
const serversShape = namedServers({ ...serverShape, of: { ...serverShape.of, timeout: integer(1, '60_000') } })

/** The servers of a configuration or an agent. `taken`: names of other sources. */
export function checkServers(
  problems: Problem[],
  servers: unknown,
  { place, taken = [] }: { readonly place: string; readonly taken?: readonly string[] },
): void {
  if (servers === undefined) return
  checkShape(problems, servers, { shape: serversShape, place })
  for (const [name, server] of isPlainRecord(servers) ? Object.entries(servers) : []) {
    if (taken.includes(name))
      problems.push({
        place: `${place}.${name}`,
        message: `"${name}" is the name of a source in config.tools`,
        remedy: 'Names of sources are unique.',
      })
    const { sandbox = 'off' } = (server ?? {}) as JsonObject
    if (sandbox !== 'off') checkSandbox(problems, sandbox, { place: `${place}.${name}.sandbox`, without: ['mode'] })
  }
}

const optionFields = {
  workspace: optional(aString),
  environment: optional({ expected: 'an object with variables', isSecret: true, accepts: isPlainRecord }),
  sandbox: anything,
  fetch: anything,
  tokens: anything,
  authProvider: anything,
  pins: anything,
  log: anything,
  client: anything,
} satisfies { readonly [key: string]: FieldType }

/** The option `mcp` of a runtime. */
export function checkMcpOptions(problems: Problem[], options: unknown): void {
  if (expectObject(problems, options as object | undefined, 'mcp'))
    checkOnlyFields(problems, options as object, { fields: optionFields, place: 'mcp' })
}
