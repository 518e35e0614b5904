// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"encoding/json"
	"strings"
)

const (
	// LabelApplication is on what piped's kubernetes plugins deploy (PipeCD v1): the id of the application.
	LabelApplication = "pipecd.dev/application"
	// labelVariant is the variant's; its key can be configured. Names show where that was done: those of variants are
	// the Service's with a suffix.
	labelVariant = "pipecd.dev/variant"
	// protocolTCP is also meant where no protocol is given.
	protocolTCP = "TCP"
	// addressesAnnotation is what a cluster on this machine writes on a Service, by port, and on a route, by host:
	// where it answers, as host:port.
	addressesAnnotation = "pipedeck.dev/addresses"
	// simulatedAnnotation is "true" on a Service of such a cluster whose ready pods all run nothing.
	simulatedAnnotation = "pipedeck.dev/simulated"
)

// Meta is what is read of an object's metadata.
type Meta struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// IsVariant reports whether an object belongs to a canary or a baseline.
func (m *Meta) IsVariant() bool {
	return m.Labels[labelVariant] == "canary" || m.Labels[labelVariant] == "baseline"
}

// Before orders objects: the one named like the application is first, then by name.
func (m *Meta) Before(other *Meta, application string) int {
	if own := (other.Name == application); own != (m.Name == application) {
		if own {
			return 1
		}
		return -1
	}
	return strings.Compare(m.Name+"/"+m.Namespace, other.Name+"/"+other.Namespace)
}

// addresses reads the annotation; what cannot be read is none.
func (m *Meta) addresses() map[string]string {
	addresses := map[string]string{}
	if text := m.Annotations[addressesAnnotation]; text != "" {
		_ = json.Unmarshal([]byte(text), &addresses)
	}
	return addresses
}

// Service is a Service.
type Service struct {
	Meta `json:"metadata"`
	Spec struct {
		Type  string `json:"type"`
		Ports []Port `json:"ports"`
	} `json:"spec"`
}

// Port is one of a Service.
type Port struct {
	Name        string  `json:"name"`
	Protocol    string  `json:"protocol"`
	AppProtocol *string `json:"appProtocol"`
	Port        int32   `json:"port"`
}

// IsSimulated reports whether nothing behind the Service runs.
func (s *Service) IsSimulated() bool { return s.Annotations[simulatedAnnotation] == "true" }
