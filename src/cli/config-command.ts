import { type AgentOverrides, type ConfigRow, configRows } from '../agents/index.ts'
import type { Json } from '../contracts/index.ts'
import type { ConfigInvocation } from './agents-invocations.ts'
import { loadSetup } from './config-setup.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { readTeam } from './load-team.ts'
import { printable } from './paint.ts'
import { safeJson } from './safe-json.ts'
import { tellNotice } from './tell.ts'

/** `troupe config show`: what counts here, and by whose word. */
export async function configCommand({ file, output, showsOrigin, wishes, configFile }: ConfigInvocation, host: Host): Promise<number> {
  const given = configFile === undefined ? {} : { configFile }
  const { setup, root } =
    file === undefined
      ? { setup: await loadSetup(host, given), root: undefined }
      : await readTeam(file, { host, overrides: { settings: [] }, asks: 'never', ...given })
  const { config, variables, diagnostics } = setup
  const stated = [...(root?.values ?? [])].filter(([, { rank }]) => rank === 'file')
  const frontmatter: AgentOverrides = new Map(stated)
  const rows = configRows({ variables, frontmatter, config })
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, settings: rows, exitCode: code }))
  else await host.stdout.lines(rows.map((row) => line(row, showsOrigin)))
  for (const { place, message } of diagnostics) await tellNotice(`${place}: ${message}`, { host, wishes })
  return code
}

const line = ({ key, value, origin }: ConfigRow, showsOrigin: boolean): string =>
  `${printable(key)} = ${printable(shown(value))}${showsOrigin ? `  # ${printable(origin)}` : ''}`

const shown = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
