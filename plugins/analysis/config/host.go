// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Host is a host that gets a header, such as shop.example.com, 127.0.0.1:8080 or [::1]:8080.
type Host string

const (
	// portForm is a number from 1 to 65535.
	portForm = `[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]`
	// hostForm has the host and the port of a Host. A URL and a pattern of hosts match no request, and are refused.
	hostForm = `^([^\s/:@?#*,\[\]]+|\[[0-9A-Fa-f:.]+\])(?::(` + portForm + `))?$`
	hostWant = "HOST or HOST:PORT, such as shop.example.com or 127.0.0.1:8080, with a port up to 65535"
)

var hostPattern = regexp.MustCompile(hostForm)

// JSONSchema is the schema of a host. Package optionschema calls it.
func (Host) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": hostForm, "patternErrorMessage": hostWant}
}

// parts are the name and the port of a host, which is empty where there is none; an error holds nothing of the host,
// because it may be a URL with a password.
func (h Host) parts() (name, port string, err error) {
	found := hostPattern.FindStringSubmatch(string(h))
	if found == nil {
		return "", "", fmt.Errorf("is not a host: want %s", hostWant)
	}
	return strings.Trim(found[1], "[]"), found[2], nil
}

// has is whether an address is at the host. A host without a port is one of https and its default port: on its way, no
// one can read what is sent there.
func (h Host) has(address *url.URL) bool {
	name, port, err := h.parts()
	if err != nil || !strings.EqualFold(name, address.Hostname()) {
		return false
	}
	defaults := map[string]string{"https": "443", "http": "80"}
	return cmp.Or(address.Port(), defaults[address.Scheme]) == cmp.Or(port, "443") &&
		(port != "" || address.Scheme == "https")
}
