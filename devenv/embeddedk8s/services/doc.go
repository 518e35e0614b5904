// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package services gives the Services of the cluster addresses on this machine that answer.
//
// Each TCP port of a Service gets a listener on 127.0.0.1, whose address is in the Service's annotation
// pipedeck.dev/addresses. It shares connections over the ready endpoints of the EndpointSlices, exactly in turn; ports
// that speak HTTP by their appProtocol, name or number share request by request, so that a browser's kept connection
// shows every version. The kubelet knows where an endpoint's port is on this machine. A connection without an endpoint
// is closed at once, and an HTTP request is answered with 503; an Event of the Service names the reason.
//
// Headless Services and those of type ExternalName have no listener, UDP and SCTP ports neither, and there is no DNS:
// programs find Services by the environment variables of Environment.
package services
