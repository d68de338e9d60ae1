import { sharedModelHealth } from '../src/steps/model-health.ts'

// Test files share a process, and servers of different files may get the same port. What one file learns of a server is not true of another.
sharedModelHealth.clear()
