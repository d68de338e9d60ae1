import { Counter, Histogram, type Registry } from 'prom-client'
import type { Usage } from '../../contracts/index.ts'
import { modelNames } from './gen-ai-names.ts'

// The metrics that OpenTelemetry's conventions for generative AI name, as Prometheus writes such names. They are for dashboards that
// know the conventions; `troupe_*` has the same figures under names that do not change.

interface GenAiMetrics {
  inference(modelId: string, used: { readonly latencyMs: number; readonly usage: Usage }): void
  agent(name: string, workMs: number): void
  tool(name: string, latencyMs: number): void
}

/** As the conventions want them for these durations. */
const buckets = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68]
const modelLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model']

export function genAiMetrics(registers: Registry[]): GenAiMetrics {
  const duration = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name: `gen_ai_${name}_duration_seconds`, help, labelNames, buckets, registers })
  const tokens = (name: string, help: string) =>
    new Counter({ name: `gen_ai_client_inference_usage_${name}_tokens_total`, help, labelNames: modelLabels, registers })
  const inference = duration('client_inference', 'Latency of model requests.', modelLabels)
  const agents = duration('invoke_agent', 'Working time of turns, without waits for a person.', ['gen_ai_agent_name'])
  const tools = duration('execute_tool', 'Time of calls.', ['gen_ai_tool_name'])
  const input = tokens('input', 'Input tokens, with cached ones.')
  const output = tokens('output', 'Output tokens, with those of reasoning.')
  return {
    inference(modelId, { latencyMs, usage }) {
      const { provider, model } = modelNames(modelId)
      const labels = { gen_ai_operation_name: 'chat', gen_ai_provider_name: provider, gen_ai_request_model: model }
      inference.observe(labels, latencyMs / 1000)
      input.inc(labels, usage.input)
      output.inc(labels, usage.output)
    },
    agent: (gen_ai_agent_name, workMs) => agents.observe({ gen_ai_agent_name }, workMs / 1000),
    tool: (gen_ai_tool_name, latencyMs) => tools.observe({ gen_ai_tool_name }, latencyMs / 1000),
  }
}
