const retryDelayMs = 50

/** Sends events until the bot has acknowledged them, as platforms do. */
export class Deliveries {
  #isClosed = false
  #open = 0

  /** Events that the bot has not acknowledged. */
  get open(): number {
    return this.#open
  }

  /** `attempt` resolves with whether the event was acknowledged. */
  async deliver(attempt: (attempts: number) => Promise<boolean>): Promise<void> {
    this.#open++
    for (let attempts = 0; !this.#isClosed; attempts++) {
      if (await attempt(attempts).catch(() => false)) break
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs).unref())
    }
    this.#open--
  }

  close(): void {
    this.#isClosed = true
  }
}
