// Runs the checks of one client, and prints a line of JSON for each.
import assert from 'node:assert/strict'

export const { TROUPE_URL: url, TROUPE_TOKEN: apiKey } = process.env

export async function check(name, work) {
  try {
    await work()
    console.log(JSON.stringify({ name, ok: true }))
  } catch (error) {
    console.log(JSON.stringify({ name, ok: false, error: String(error?.stack ?? error).slice(0, 600) }))
  }
}

export const has = (text, part) => assert.ok(String(text).includes(part), `${JSON.stringify(text)} has no "${part}"`)

export async function joined(stream, textOf = (piece) => piece) {
  let text = ''
  for await (const piece of stream) text += textOf(piece) ?? ''
  return text
}

export { assert }
