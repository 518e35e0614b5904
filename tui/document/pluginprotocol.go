// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import "encoding/json"

// WrittenProtocol is the document of pipedeck plugin protos.
type WrittenProtocol struct {
	Head
	// File is the file or the directory where the protocol was written.
	File string `json:"file"`
	// Protos are its .proto files, each after those that it imports.
	Protos []string `json:"protos"`
	// Services are those of piped and of plugins.
	Services []ProtocolService `json:"services"`
}

// ProtocolService is a service of the plugin protocol.
type ProtocolService struct {
	// Name is its full name.
	Name string `json:"name"`
	// Methods are the names of its methods.
	Methods []string `json:"methods"`
}

// EditorSchema is the document of pipedeck plugin schema.
type EditorSchema struct {
	Head
	// Configuration is the kind of files that the schema is for: application or piped.
	Configuration string `json:"configuration"`
	// Plugins are the names of the plugins whose options the schema has.
	Plugins []string `json:"plugins"`
	// JSONSchema is the schema.
	JSONSchema json.RawMessage `json:"json_schema"`
}
