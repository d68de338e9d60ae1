import type { AgentDescriptor, AgentProvider, AgentResult, Extension, ExtensionContext, InvokeCall, JsonObject } from 'troupe/extension'

/** An agent with code. `startAgent` runs the agent of the manifest, with its model, tools and limits. */
export class CodeReviewAgent implements Extension, AgentProvider {
  #context: ExtensionContext | undefined

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  getAgentDescriptor(): AgentDescriptor {
    return {
      name: 'Code Review Agent',
      description:
        'Reviews code. Task: what to review, such as files, a folder or a diff, and what to look for. Returns findings with their places, the most serious first. It changes nothing.',
      integrationMode: 'tool',
    }
  }

  async invoke(task: string, context: JsonObject | undefined, call: InvokeCall): Promise<AgentResult> {
    if (this.#context === undefined) throw new Error('The extension is not initialized.')
    if (task.trim() === '') {
      const error = { class: 'invalid_input', message: 'The task is empty.', remedy: 'Name the files or paste the diff to review.' }
      return { status: 'failed', content: '', error }
    }
    call.progress('Reviewing')
    return this.#context.startAgent(task, { signal: call.signal, ...(context && { context }) })
  }
}
