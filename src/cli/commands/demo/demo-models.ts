import { TroupeError } from '../../../contracts/index.ts'
import { findAllModels } from '../../../models/by-name/index.ts'
import { overlayFor, type Project } from '../../../project/index.ts'
import type { Demonstration, ModelOffer } from '../../../server/rest/index.ts'
import { type RecordedModelsOptions, recordedModels } from './recorded-models.ts'

/** The answers of the agent files as they are. */
const withoutModel = 'recorded'

/** The model of all agents of the demonstration. It begins with the recorded answers at each start. */
export class DemoModels implements Demonstration {
  readonly #recorded: RecordedModelsOptions
  #model = withoutModel
  #offers: readonly ModelOffer[] = []
  #apply = (): Promise<void> => Promise.resolve()

  constructor(recorded: RecordedModelsOptions) {
    this.#recorded = recorded
  }

  get model(): string {
    return this.#model
  }

  get offers(): readonly ModelOffer[] {
    return this.#offers
  }

  readonly processId: number = process.pid

  /** Asks the parent process, which starts another server. Without one, nothing happens. */
  pullPlug(): void {
    process.send?.({ kind: 'pull-plug' })
  }

  /** `apply` makes the server call `extend` again, as after a change of a file. */
  attach(apply: () => Promise<void>): void {
    this.#apply = apply
  }

  /** The project with the chosen model. Looks for keys and local servers again. */
  async extend(project: Project): Promise<Project> {
    this.#offers = await findAllModels(overlayFor(['auto'], project.report.setup))
    if (!this.#offers.some(({ model }) => model === this.#model)) this.#model = withoutModel
    const adapter = recordedModels(project.adapter, this.#recorded)
    if (this.#model === withoutModel) return { ...project, adapter }
    const agents = project.config.agents.map((agent) => ({ ...agent, models: [this.#model] }))
    return { ...project, adapter, config: { ...project.config, agents } }
  }

  async choose(model: string): Promise<void> {
    const before = this.#model
    this.#model = model
    try {
      await this.#apply()
    } catch (error) {
      this.#model = before
      throw error
    }
    if (this.#model !== model)
      throw new TroupeError('model_unavailable', `The model ${model} is not available any more.`, { remedy: 'Choose another model.' })
  }
}
