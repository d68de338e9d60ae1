// An autonomous agent: it runs on a schedule (SchedulerProvider), and others can ask it (AgentProvider).
import type {
  AgentDescriptor,
  AgentProvider,
  AgentResult,
  Extension,
  ExtensionContext,
  HealthReport,
  InvokeCall,
  Json,
  JsonObject,
  Schedule,
  ScheduledResult,
  SchedulerProvider,
  SetupField,
  SetupProvider,
} from 'troupe/extension'

interface Source {
  readonly name: string
  readonly url: string
}

interface MonitorConfig {
  readonly sources: readonly Source[]
  readonly schedule: Schedule
  readonly thresholdPercent: number
}

const defaultCron = '0 */4 * * *'
const defaultPercent = 10

/** The answer of a scheduled run. Structured, so that code and not the model decides whether the person gets a message. */
const reportSchema = {
  type: 'object',
  properties: {
    anomalies: {
      type: 'array',
      description: 'Unusual changes, and sources that cannot be read. Empty if there are none.',
      items: {
        type: 'object',
        properties: {
          source: { type: 'string', description: 'Name of the source.' },
          message: { type: 'string', description: 'What changed, with the old and the new price.' },
        },
        required: ['source', 'message'],
        additionalProperties: false,
      },
    },
  },
  required: ['anomalies'],
  additionalProperties: false,
}

export class PriceMonitorAgent implements Extension, AgentProvider, SchedulerProvider, SetupProvider {
  #running: { readonly context: ExtensionContext; readonly config: MonitorConfig } | undefined

  initialize(context: ExtensionContext): void {
    this.#running = { context, config: readConfig(context.config) }
  }

  healthCheck(): HealthReport {
    const isEmpty = this.#ready().config.sources.length === 0
    return isEmpty
      ? { healthy: false, message: 'No sources are configured. To add some: troupe extensions setup price_monitor' }
      : { healthy: true }
  }

  getAgentDescriptor(): AgentDescriptor {
    return {
      name: 'Price Monitor',
      description: 'Monitors prices on configured sources. Can be asked for current prices or run on schedule.',
      integrationMode: 'tool',
    }
  }

  getSchedule(): Schedule {
    return this.#ready().config.schedule
  }

  async execute(): Promise<ScheduledResult | undefined> {
    const { context, config } = this.#ready()
    if (config.sources.length === 0) return undefined
    const task = `Check the prices of all sources. Report anomalies only: changes of ${config.thresholdPercent} percent or more, and sources that cannot be read.`
    const result = await context.startAgent(withSources(task, config), { output: reportSchema })
    if (result.status !== 'completed') throw new Error(`The prices could not be checked: ${result.error?.message ?? result.status}`)
    const anomalies = readAnomalies(result)
    if (anomalies.length === 0) return undefined
    return { text: ['Unusual prices:', ...anomalies.map(({ source, message }) => `- ${source}: ${message}`)].join('\n') }
  }

  invoke(task: string, _context: JsonObject | undefined, call: InvokeCall): Promise<AgentResult> {
    const { context, config } = this.#ready()
    return context.startAgent(withSources(task, config), { signal: call.signal })
  }

  getSetupSchema(): readonly SetupField[] {
    return [
      { name: 'sources', label: 'Pages to watch, as NAME=URL with spaces between them', type: 'text', required: true },
      { name: 'cron', label: 'When to check, as a cron expression', type: 'text', default: defaultCron },
      { name: 'time_zone', label: 'Time zone, such as Europe/Berlin. Leave it empty for that of the machine', type: 'text' },
      { name: 'threshold_percent', label: 'Report changes from this many percent on', type: 'number', default: defaultPercent },
    ]
  }

  /** The kernel stores the values. They apply after a restart. */
  applyConfig(config: JsonObject): void {
    readConfig(config)
  }

  #ready(): { readonly context: ExtensionContext; readonly config: MonitorConfig } {
    if (this.#running === undefined) throw new Error('The extension is not initialized.')
    return this.#running
  }
}

const withSources = (task: string, { sources }: MonitorConfig): string =>
  [task, '', 'Sources:', ...sources.map(({ name, url }) => `- ${name}: ${url}`)].join('\n')

/** @throws with the place of what is wrong. */
function readConfig({ sources = [], cron = defaultCron, time_zone = '', threshold_percent = defaultPercent }: JsonObject): MonitorConfig {
  if (typeof cron !== 'string') throw new Error('`config.cron` must be a text such as "0 */4 * * *".')
  if (typeof time_zone !== 'string') throw new Error('`config.time_zone` must be a text such as "Europe/Berlin".')
  if (typeof threshold_percent !== 'number' || threshold_percent <= 0)
    throw new Error('`config.threshold_percent` must be a number above 0.')
  // A text comes from the setup.
  const listed =
    typeof sources === 'string'
      ? sources
          .split(/\s+/)
          .filter((each) => each !== '')
          .map(namedUrl)
      : sources
  if (!Array.isArray(listed)) throw new Error('`config.sources` must be a list of objects with `name` and `url`.')
  return {
    sources: listed.map(readSource),
    schedule: { cron, ...(time_zone !== '' && { timeZone: time_zone }) },
    thresholdPercent: threshold_percent,
  }
}

function namedUrl(text: string): JsonObject {
  const [name = '', ...url] = text.split('=')
  return { name, url: url.join('=') }
}

function readSource(source: Json, index: number): Source {
  const { name, url } = asObject(source)
  const isUrl = typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')
  if (typeof name === 'string' && name !== '' && isUrl) return { name, url }
  throw new Error(`\`config.sources[${index}]\` must have a \`name\` and an http or https \`url\`, found ${JSON.stringify(source)}.`)
}

/** JSON of `reportSchema`: Troupe has checked it. */
function readAnomalies({ value }: AgentResult): readonly { readonly source: string; readonly message: string }[] {
  const { anomalies } = asObject(value)
  return Array.isArray(anomalies)
    ? anomalies.map(asObject).map(({ source, message }) => ({ source: String(source), message: String(message) }))
    : []
}

const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
