import { HttpError } from './http-error.ts'

/** Maximum number of requests of one kind that are not authenticated and open together: anybody can send them. */
const mostOpen = 256

/** Runs work for a request, unless too much of it is open. */
export function openLimit(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let open = 0
  return async (work) => {
    if (open >= mostOpen) throw new HttpError('overloaded', 'Too many requests are open.', { retryAfterSeconds: 1 })
    open++
    try {
      return await work()
    } finally {
      open--
    }
  }
}
