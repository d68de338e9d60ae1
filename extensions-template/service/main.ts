import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Extension, ExtensionContext, ServiceProvider } from 'troupe/extension'

export class TemplateClass implements Extension, ServiceProvider {
  #context: ExtensionContext | undefined

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  /** Runs until the signal aborts. If it rejects before, it is started again. */
  async runBackground(signal: AbortSignal): Promise<void> {
    if (this.#context === undefined) throw new Error('The extension is not initialized.')
    const { config, dataDir } = this.#context
    const file = join(dataDir, String(config.file))
    let wasThere = existsSync(file)
    while (!signal.aborted) {
      await setTimeout(Number(config.seconds) * 1000, undefined, { signal }).catch(() => undefined)
      const isThere = existsSync(file)
      if (isThere && !wasThere) await this.#context.notifyUser(`There is a new file: ${config.file}`)
      wasThere = isThere
    }
  }
}
