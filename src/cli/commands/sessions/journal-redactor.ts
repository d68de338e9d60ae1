import { join } from 'node:path'
import { modelAdapter } from '../../../models/by-name/index.ts'
import {
  type ConfigOptions,
  modelOptions,
  type Overlay,
  overlayFor,
  readSetup,
  type Setup,
  setupWithoutConfig,
} from '../../../project/index.ts'
import { type Redactor, redactor } from '../../../util/redact.ts'
import type { Host } from '../../terminal/process-host.ts'
import type { WaitingSession } from './waiting-requests.ts'

/**
 * Removes what the run itself would remove: keys of providers and secrets of the configuration. Uses the configuration of
 * this folder and that of the run. A configuration that cannot be read is skipped.
 */
export async function redactorFor({ origin }: Pick<WaitingSession, 'origin'>, host: Host): Promise<Redactor> {
  const configFile = origin?.flags?.findLast(({ name }) => name === 'config')?.value
  const display: ConfigOptions = configFile === undefined ? {} : { configFile }
  // A configuration is also searched next to the agent file.
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
  // The models of the run are not known here, so the secrets of all providers are used.
  const { variables, providers, secrets } = overlayFor(['any'], { config, environment })
  return { ...modelAdapter({ ...modelOptions('.', { env: variables }), providers }).secrets, ...secrets }
}
