/** Whether a server works as its files say. Shown by `/ready`. */
export class ServerHealth {
  isDraining = false
  /** Why the last change of files was not applied. Empty: it was. */
  stale: readonly string[] = []
  /** Changes that need a new start. */
  pending: readonly string[] = []
  /** Agents that did not start because tools are missing. */
  leftOut: readonly string[] = []
  /** Why nothing can be stored. */
  storeProblems: () => readonly string[] = () => []
  /** Problems of extensions. */
  kernelProblems: () => readonly string[] = () => []
  /** Webhooks that do not work. */
  webhookProblems: () => readonly string[] = () => []

  get problems(): readonly string[] {
    return [...(this.isDraining ? ['The server is shutting down.'] : []), ...this.storeProblems()]
  }

  get warnings(): readonly string[] {
    const further = [...this.kernelProblems(), ...this.webhookProblems()]
    return [...this.storeProblems(), ...this.stale, ...this.pending, ...this.leftOut, ...further]
  }
}
