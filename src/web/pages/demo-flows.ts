// What the demonstration offers. `demo/team/recorded/index.json` has the answers: a test compares the messages.

export interface DemoFlow {
  readonly id: 'fix' | 'plug' | 'budget'
  readonly agent: string
  /** The message that starts it. */
  readonly message: string
  readonly title: string
  readonly about: string
  readonly seconds: number
  /** What to try after it. */
  readonly hint: string
  /** Words of a message that it is the nearest to. */
  readonly words: RegExp
}

export const demoFlows: readonly DemoFlow[] = [
  {
    id: 'fix',
    agent: 'lead',
    message: 'Fix the failing checkout test',
    title: 'Fix the failing checkout test',
    about: 'Three agents read code, run tests and change two lines. You approve the change.',
    seconds: 25,
    hint: 'Click any bar in the timeline: it shows that step or call in full.',
    words: /fix|bug|test|fail|error|code|discount|checkout|change|edit|repair|refactor/gi,
  },
  {
    id: 'plug',
    agent: 'lead',
    message: 'Check the whole shop while I pull the plug',
    title: 'Pull the plug',
    about: 'Kill the server in the middle of the work. It continues, and no finished call runs again.',
    seconds: 15,
    hint: 'Edit your message to branch: the first run stays as it is.',
    words: /crash|kill|plug|restart|resume|durable|stop|recover|server|power/gi,
  },
  {
    id: 'budget',
    agent: 'planner',
    message: 'Compare six ways to pay, for 5 cents at most',
    title: 'Spend no more than 5 cents',
    about: 'Six parallel tasks share one budget. One falls back to another model, and two are refused.',
    seconds: 15,
    hint: 'This agent is an 11-line file: see its settings.',
    words: /cost|budget|cent|money|price|pay|spend|limit|cheap|token|dollar/gi,
  },
]

export const flowOf = (message: string): DemoFlow | undefined =>
  demoFlows.find((flow) => flow.message.toLowerCase() === message.trim().toLowerCase())

/** All flows, the one that is the nearest to a message first. */
export function nearestFlows(message: string): readonly DemoFlow[] {
  const hits = ({ words }: DemoFlow): number => message.match(words)?.length ?? 0
  return demoFlows.toSorted((a, b) => hits(b) - hits(a))
}
