import type { InteractionEvent } from '../contracts/index.ts'

type Configured = InteractionEvent<'interaction.session.configured'>

/** What a change of a session puts in the place of what held before. */
export const configuration = ({ agent, tools, promptChars, prices = {}, windows = {} }: Configured) => ({
  agent,
  tools,
  promptChars,
  prices,
  windows,
})
