// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// speaksHTTP reports whether requests to a port are shared one by one: by its appProtocol, else its name, else its
// number. `pipedeck open` has the same rule for clusters of other kinds.
func speaksHTTP(port corev1.ServicePort) bool {
	protocol := ""
	if port.AppProtocol != nil {
		protocol = strings.TrimPrefix(strings.ToLower(*port.AppProtocol), "kubernetes.io/")
	}
	if protocol == "" {
		// "http-admin" is a usual name.
		protocol, _, _ = strings.Cut(strings.ToLower(port.Name), "-")
	}
	switch protocol {
	case "http", "web", "ws":
		return true
	case "":
		return port.Port == 80 || port.Port == 8080
	}
	return false
}
