import type { Extension, ExtensionContext, JsonObject, Schedule, ScheduledResult, SchedulerProvider } from 'troupe/extension'

export class TemplateClass implements Extension, SchedulerProvider {
  #context: ExtensionContext | undefined

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  getSchedule(): Schedule {
    const { cron, time_zone } = this.#context?.config ?? {}
    return { cron: String(cron), timeZone: String(time_zone) }
  }

  /** The text is sent to the person. Without one, nobody is disturbed. */
  execute(): ScheduledResult | undefined {
    if (this.#context === undefined) throw new Error('The extension is not initialized.')
    const { config } = this.#context
    // Swedish dates are written 2027-12-10.
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: String(config.time_zone) }).format(this.#context.now()).slice(5)
    const names = Object.entries(config.birthdays as JsonObject).flatMap(([name, day]) => (day === today ? [name] : []))
    return names.length === 0 ? undefined : { text: `It is the birthday of ${names.join(' and ')}.` }
  }
}
