import { z } from 'zod'

const message = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'JsonRpcMessage', description: 'A message of the Model Context Protocol.' })

/** A response, alone or as a batch of 2025-03-26; or messages as they arrive. */
export const answers = {
  response: { 'application/json': z.union([message, z.array(message)]), 'text/event-stream': message },
  messages: { 'text/event-stream': message },
  /** The first event is the address for messages of the client. */
  addressed: { 'text/event-stream': z.union([message, z.string()]) },
}
