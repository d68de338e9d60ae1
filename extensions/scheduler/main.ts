import type { Extension, ExtensionContext, JsonObject, Schedule, ScheduledTask, Tool, ToolOutput, ToolProvider } from 'troupe/extension'
import { parseTime, showTime } from './times.ts'

const timeZone = { type: 'string', description: 'IANA time zone, such as Europe/Berlin. Default: the time zone of the machine.' }

const whenProperties = {
  at: {
    type: 'string',
    description: 'Once, at this date and time: 2027-03-01T09:00 in time_zone, or with an offset: 2027-03-01T09:00+01:00.',
  },
  in_minutes: { type: 'number', exclusiveMinimum: 0, maximum: 525_600, description: 'Once, this many minutes from now.' },
  cron: {
    type: 'string',
    description: 'Repeatedly: minute, hour, day of month, month, day of week. `0 8 * * 1-5` is 08:00 from Monday to Friday.',
  },
}
type WhenKey = keyof typeof whenProperties

/** Reminders for the person and tasks for the orchestrator at a time. The kernel keeps them and sends them, also after a restart. */
export class SchedulerExtension implements Extension, ToolProvider {
  #context: ExtensionContext | undefined

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  getTools(): readonly Tool[] {
    const context = this.#context
    if (context === undefined) throw new Error('The extension is not initialized.')
    return [currentTime(context), addReminder(context), addTask(context), listTasks(context), cancelTask(context)]
  }
}

const currentTime = (context: ExtensionContext): Tool => ({
  name: 'current_time',
  description: 'Return the current date, time and day of the week.',
  inputSchema: { type: 'object', properties: { time_zone: timeZone }, additionalProperties: false },
  effect: 'read',
  concurrency: 'shared',
  repeatable: true,
  execute: ({ time_zone }) => explainFailure(() => showTime(context.now(), textOf(time_zone))),
})

const addReminder = (context: ExtensionContext): Tool => ({
  name: 'remind',
  description:
    'Remind the person: at its time they get the text as it is, whatever you do then. Set exactly one of at, in_minutes and cron. Use add for work.',
  ...adding(context, 'reminder', 'For the person: "Call Bo about the invoice."'),
})

const addTask = (context: ExtensionContext): Tool => ({
  name: 'add',
  description:
    'Schedule work for yourself: at its time the task is sent to you in this conversation. Set exactly one of at, in_minutes and cron. Use remind for a text to the person.',
  ...adding(context, 'task', 'What to do then, complete in itself: "Summarize the news about tea for Ada."'),
})

/** `kind`: also the name of the input with the text. */
const adding = (context: ExtensionContext, kind: ScheduledTask['kind'], description: string): Pick<Tool, 'inputSchema' | 'execute'> => ({
  inputSchema: {
    type: 'object',
    properties: { [kind]: { type: 'string', minLength: 1, maxLength: 4000, description }, ...whenProperties, time_zone: timeZone },
    required: [kind],
    additionalProperties: false,
  },
  execute: (input) =>
    explainFailure(async () => {
      const added = await context.schedules.add({ kind, task: String(input[kind]), when: readWhen(input, context.now()) })
      return `Scheduled ${describeTask(added, textOf(input.time_zone))}`
    }),
})

const listTasks = (context: ExtensionContext): Tool => ({
  name: 'list',
  description: 'List the reminders and tasks with their ids, the next one first.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  effect: 'read',
  concurrency: 'shared',
  repeatable: true,
  execute: async () => {
    const tasks = (await context.schedules.list()).toSorted((one, other) => one.nextAt - other.nextAt)
    return tasks.length === 0 ? 'Nothing is scheduled.' : tasks.map((task) => describeTask(task)).join('\n')
  },
})

const cancelTask = (context: ExtensionContext): Tool => ({
  name: 'cancel',
  description: 'Cancel a reminder or a task.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', minLength: 1, description: 'The id, from `list`.' } },
    required: ['id'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  execute: async ({ id }) =>
    (await context.schedules.cancel(String(id)))
      ? `Cancelled ${id}.`
      : failure(`There is no reminder or task with the id ${JSON.stringify(id)}.`, 'Call `list` to see the ids.'),
})

/** @throws if there is not exactly one time, or it is wrong. */
function readWhen(input: JsonObject, now: number): { readonly at: number } | Schedule {
  const given = (Object.keys(whenProperties) as WhenKey[]).filter((key) => input[key] !== undefined)
  const [key] = given
  if (key === undefined || given.length > 1) {
    const found = given.length === 0 ? 'none of them' : given.join(' and ')
    throw new Error(`Set exactly one of at, in_minutes and cron. This call has ${found}.`)
  }
  const zone = textOf(input.time_zone)
  if (key === 'in_minutes') return { at: now + Number(input.in_minutes) * 60_000 }
  if (key === 'cron') return { cron: String(input.cron), ...(zone !== undefined && { timeZone: zone }) }
  const at = parseTime(String(input.at), zone)
  if (at <= now) throw new Error(`${input.at} is in the past. Now it is ${showTime(now, zone)}.`)
  return { at }
}

function describeTask({ id, kind, task, when, nextAt, by }: ScheduledTask, zone?: string): string {
  const from = by === undefined ? '' : `, added by the extension ${by}`
  const what = kind === 'reminder' ? `${id}: reminder` : id
  if ('at' in when) return `${what}: once, ${showTime(nextAt, zone)}${from}: ${task}`
  const shownZone = when.timeZone ?? zone
  return `${what}: cron \`${when.cron}\`${when.timeZone ? ` (${when.timeZone})` : ''}, next ${showTime(nextAt, shownZone)}${from}: ${task}`
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const failure = (message: string, remedy?: string): ToolOutput => ({
  ok: false,
  error: { class: 'invalid_input', message, ...(remedy !== undefined && { remedy }) },
})

/** Wrong times and cron expressions are expected: the model reads the message and calls again. */
async function explainFailure(work: () => string | Promise<string>): Promise<ToolOutput | string> {
  try {
    return await work()
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error))
  }
}
