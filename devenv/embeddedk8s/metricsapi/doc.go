// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package metricsapi serves metrics.k8s.io/v1beta1 in the API server itself: the use of processors and memory by the
// pods that run as processes, for kubectl top.
//
// It measures when it is asked (package usage). Pods that are simulated use nothing and are left out; asking for one
// by its name says so. Nodes show what their pods use together.
package metricsapi
