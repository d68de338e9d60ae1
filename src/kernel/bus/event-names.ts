/** The events that the kernel publishes. */
export const kernelEvents = {
  /** A person wrote. */
  userMessage: 'user_message',
  /** The orchestrator, or the agent that speaks for it, answered. */
  agentResponse: 'agent_response',
  agentInvoked: 'agent_invoked',
  agentResult: 'agent_result',
  agentError: 'agent_error',
  extensionStarted: 'extension_started',
  extensionError: 'extension_error',
  scheduleMissed: 'schedule_missed',
  /** A person was sent a message that is no answer. */
  notification: 'notification',
} as const

const reserved = new Set<string>(Object.values(kernelEvents))

/** Whether only Troupe publishes events of this name, so that those who read them can rely on it. */
export const isKernelEvent = (name: string): boolean => reserved.has(name) || name.startsWith('agent_')
