/** Tells something of other people's to stop. What it says to that is not waited for, and does no harm. */
export function dismiss(stop: () => unknown): void {
  new Promise((resolve) => resolve(stop())).catch(() => {})
}
