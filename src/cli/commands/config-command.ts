import type { Json } from '../../contracts/index.ts'
import { type AgentOverrides, type ConfigRow, configRows, loadSetup, readAgent, type Setup } from '../../project/index.ts'
import type { ConfigInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { placeOf } from '../terminal/place-of.ts'
import { printDocument, printNotice } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'

/** `troupe config show`: the effective configuration and where each value comes from. */
export async function configCommand({ file, output, showsOrigin, display, configFile }: ConfigInvocation, host: Host): Promise<number> {
  const { setup, root, diagnostics } =
    file === undefined
      ? settingsWithoutAgent(await loadSetup(host, { configFile }))
      : await readAgent(file, { ...placeOf(host), configFile })
  const { config, variables } = setup
  const stated = [...(root?.values ?? [])].filter(([, { precedence }]) => precedence === 'file')
  const frontmatter: AgentOverrides = new Map(stated)
  const rows = configRows({ variables, frontmatter, config })
  if (output === 'json') await printDocument({ settings: rows }, host)
  else await host.stdout.lines(rows.map((row) => line(row, showsOrigin)))
  for (const { place, message } of diagnostics) await printNotice(`${place}: ${message}`, { host, display })
  return exitCodes.done.code
}

const settingsWithoutAgent = (setup: Setup) => ({ setup, root: undefined, diagnostics: setup.diagnostics })

const line = ({ key, value, origin }: ConfigRow, showsOrigin: boolean): string =>
  `${printable(key)} = ${printable(shown(value))}${showsOrigin ? `  # ${printable(origin)}` : ''}`

const shown = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
