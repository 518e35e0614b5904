// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package routes sends HTTP requests by Ingresses, by the Gateway API's HTTPRoutes and by Istio's VirtualServices.
//
// One HTTP proxy on 127.0.0.1 answers for all hosts that Ingresses, Gateways and VirtualServices name; its address is
// in their status and in the annotation pipedeck.dev/addresses. HTTPRoutes of a Service and VirtualServices of the mesh
// also choose where requests to a Service's own address go. Weights are kept exactly: see relay.Split.
//
// Requests are chosen by path, method, query and headers, which cookies are a part of; copies of requests are sent
// where an HTTPRoute or a VirtualService asks for them. An Ingress with the canary annotations of ingress-nginx shares
// the requests of the Ingress with its hosts and paths.
//
// Every class of Ingress and Gateway is served, since nothing else here would. Of TLS, filters, rewrites, retries and
// the like nothing is done: what an object asks for in vain is said in its conditions or in an Event, and a rule whose
// answers would be wrong without it answers with 501.
package routes
