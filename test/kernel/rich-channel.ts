import type { ClosedRequest, TurnProgress } from '../../src/contracts/index.ts'
import { FakeChannel } from './router-stage.ts'

/** A channel with the optional members of a rich client. */
export class RichChannel extends FakeChannel {
  readonly closed: ClosedRequest[] = []
  readonly progress: TurnProgress[] = []
  /** Called before each state is taken. */
  beforeProgress: (progress: TurnProgress) => unknown = () => {}
  beforeClose: (closed: ClosedRequest) => unknown = () => {}

  async closeRequest(_: string, closed: ClosedRequest): Promise<void> {
    await this.beforeClose(closed)
    this.closed.push(closed)
  }

  async showProgress(_: string, progress: TurnProgress): Promise<void> {
    await this.beforeProgress(progress)
    this.progress.push(progress)
  }

  /** `working: running read_file a.txt, pending …`, of each state that was shown. */
  states(): readonly string[] {
    return this.progress.map(({ state, tasks }) => [state, tasks.map((task) => `${task.state} ${task.title}`).join(', ')].join(': '))
  }
}
