// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubeletapi serves the part of the kubelet's HTTPS API that kubectl needs: logs, exec, attach, port-forward.
//
// It listens on 127.0.0.1 and lets in the API server alone, which has authenticated the user and checked the user's
// rights. A program that exec starts is the user's own wish, made with the environment's credentials: any program
// of this machine may be started, in the surroundings of the container, unlike those that a manifest names.
//
// A pod that is simulated answers with the reason at once, so that nothing hangs. What a client has started ends with
// the client's connection, with the container, and with the server.
package kubeletapi
