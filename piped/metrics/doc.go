// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics counts and times what a piped does, for Prometheus and for the control plane.
//
// It guarantees that the number of series is bounded: labels hold names of the configuration, stages up to a
// limit, and deployments only while they are open and until the next report. It costs nothing between
// scrapes but the counting.
//
// The agent makes one Metrics, feeds it from package observe, serves its Handler on the admin port and runs
// it to report to the control plane, as PipeCD v1 does once a minute. A report that fails is only logged.
package metrics
