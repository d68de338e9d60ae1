import type { Json } from '../../contracts/index.ts'
import { type AgentOverrides, type ConfigRow, configRows } from '../../project/index.ts'
import { exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import type { ConfigInvocation } from '../options/project-invocations.ts'
import { loadSetup } from '../team/load-config.ts'
import { readTeam } from '../team/load-team.ts'
import { printDocument, printNotice } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'

/** `troupe config show`: the effective configuration and where each value comes from. */
export async function configCommand({ file, output, showsOrigin, display, configFile }: ConfigInvocation, host: Host): Promise<number> {
  const { setup, root } =
    file === undefined
      ? { setup: await loadSetup(host, { configFile }), root: undefined }
      : await readTeam(file, { host, overrides: { settings: [] }, asksForTrust: false, configFile })
  const { config, variables, diagnostics } = setup
  const stated = [...(root?.values ?? [])].filter(([, { precedence }]) => precedence === 'file')
  const frontmatter: AgentOverrides = new Map(stated)
  const rows = configRows({ variables, frontmatter, config })
  if (output === 'json') await printDocument({ settings: rows }, host)
  else await host.stdout.lines(rows.map((row) => line(row, showsOrigin)))
  for (const { place, message } of diagnostics) await printNotice(`${place}: ${message}`, { host, display })
  return exitCodes.done.code
}

const line = ({ key, value, origin }: ConfigRow, showsOrigin: boolean): string =>
  `${printable(key)} = ${printable(shown(value))}${showsOrigin ? `  # ${printable(origin)}` : ''}`

const shown = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
