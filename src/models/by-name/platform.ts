import type { Clock } from '../../contracts/index.ts'

/** What models use of the machine where nobody gives them anything else. */
export const platform = {
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(ms, fire) {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
  } satisfies Clock,
  fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
  readFile: async (path: string) => (await import('./script-file.ts')).readScriptFile(path),
  baseDir: '.',
}
