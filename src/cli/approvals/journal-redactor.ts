import { join } from 'node:path'
import { type Overlay, overlayFor } from '../../agents/index.ts'
import { modelAdapter } from '../../models/by-name/index.ts'
import { type Redactor, redactor } from '../../util/redact.ts'
import type { Host } from '../host/process-host.ts'
import { modelOptions } from '../models/model-options.ts'
import { type ConfigOptions, readSetup, type Setup, setupWithoutConfig } from '../team/load-config.ts'
import type { WaitingSession } from './waiting-requests.ts'

/**
 * Takes out what the run itself would take out: keys of providers, and what is secret in a configuration. The run may work
 * elsewhere, so that its configuration counts beside the one of here; whatever is wrong with either, the rest is known.
 */
export async function redactorFor({ origin }: Pick<WaitingSession, 'origin'>, host: Host): Promise<Redactor> {
  const configFile = origin?.flags?.findLast(({ name }) => name === 'config')?.value
  const display: ConfigOptions = configFile === undefined ? {} : { configFile }
  // A configuration is looked for beside a file, too.
  const files = origin ? [join(origin.workspace, 'agent.ai'), ...(origin.agentFile === undefined ? [] : [origin.agentFile])] : []
  const setups = await Promise.all([display, ...files.map((file) => ({ ...display, file }))].map((each) => setupWith(each, host)))
  return redactor(Object.assign({}, ...setups.map(secretsOf)))
}

const setupWith = (display: ConfigOptions, host: Host): Promise<Setup> =>
  readSetup(host, display).then(
    ({ setup }) => setup,
    () => setupWithoutConfig(host),
  )

function secretsOf({ config, environment }: Setup): Overlay['secrets'] {
  // A name that may mean any provider: nobody knows here which ones the run asks, and one whose variables are missing is left out.
  const { variables, providers, secrets } = overlayFor(['any'], { config, environment })
  return { ...modelAdapter({ ...modelOptions('.', { env: variables }), providers }).secrets, ...secrets }
}
