export const dayMs = 86_400_000

/** The day of a moment in UTC: `2026-11-17`. */
export const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** When the next day begins in UTC, in milliseconds since 1970. */
export const nextUtcDay = (at: number): number => (Math.floor(at / dayMs) + 1) * dayMs

/** When the last days in UTC began, today included. */
export const startOfLastDays = (days: number, now: number): number => (Math.floor(now / dayMs) - days + 1) * dayMs
