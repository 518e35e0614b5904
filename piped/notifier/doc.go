// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package notifier notifies people and programs of events: Slack channels and webhooks, chosen by the
// routes of the piped configuration.
//
// Notify never waits: each receiver has its own bounded queue and sender, so a receiver that hangs
// holds up neither deployments nor other receivers. Failures that may pass (network, 429, 5xx) are tried
// again with growing pauses, a bounded number of times; a receiver may therefore get an event twice. At
// the end what is queued is still sent, for a bounded time. What is dropped is counted and logged.
// Secrets (hook URLs, tokens, signatures) are in no log and in no error.
//
// The agent makes one Notifier and feeds it from package observe. New fails when a receiver cannot work
// as configured; later failures are logged only.
package notifier
