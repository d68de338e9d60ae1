import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Extension, ExtensionContext, Schedule, ScheduledResult, SchedulerProvider } from 'troupe/extension'

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
  async execute(): Promise<ScheduledResult | undefined> {
    if (this.#context === undefined) throw new Error('The extension is not initialized.')
    const { config, workspace } = this.#context
    const { length } = await readdir(join(workspace, String(config.folder)))
    return length > Number(config.most) ? { text: `The folder ${config.folder} has ${length} files.` } : undefined
  }
}
