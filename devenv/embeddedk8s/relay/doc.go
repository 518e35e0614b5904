// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package relay carries connections and HTTP requests from a listener to endpoints, in turn.
//
// Endpoints is a set of addresses that changes while it is used. Every connection, and with HTTP every request, goes to
// the ready endpoint that was not used for longest, so that the endpoints' shares differ by one at most. An endpoint
// that refuses a connection is skipped for that connection. An endpoint that has left the set keeps its connections.
//
// Copies sends copies of requests to other endpoints, within bounds, and drops the answers.
//
// The package does not know Kubernetes: packages services and routes do. Its listeners belong on 127.0.0.1.
package relay
