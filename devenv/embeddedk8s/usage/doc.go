// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package usage measures how much of the processors and of the memory the pods use that run as processes.
//
// Nothing is measured unless someone asks. The use of processors is a difference between two readings: an answer is
// about the time since the last reading when that was within a minute, else a second is waited for. Callers are the
// metrics API (package metricsapi) and the controller of autoscalers (package controllers).
package usage
