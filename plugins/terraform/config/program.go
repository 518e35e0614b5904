// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"

	"github.com/hashicorp/go-version"
)

// Program is a program that the plugin can download.
type Program struct {
	// Version is the version of the program, such as 1.12.6.
	Version string `json:"version" jsonschema:"required,minLength=1"`
	// URL is where the program, or a zip archive with it, is: https:// or file://.
	URL string `json:"url" jsonschema:"required,minLength=1"`
	// SHA256 is the checksum of what the URL has, in hexadecimal digits.
	SHA256 string `json:"sha256" jsonschema:"required,pattern=^[0-9a-fA-F]{64}$"`
}

var sum = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func (p *Program) validate() error {
	if _, err := version.NewVersion(p.Version); err != nil {
		return fmt.Errorf("version %q is not a version", p.Version)
	}
	if !sum.MatchString(p.SHA256) {
		return fmt.Errorf("sha256 of version %s has to be 64 hexadecimal digits", p.Version)
	}
	address, err := url.Parse(p.URL)
	if err != nil {
		return fmt.Errorf("url of version %s cannot be read", p.Version)
	}
	return CheckURL(address)
}

// CheckURL refuses addresses on whose way others could read or replace what is sent.
func CheckURL(address *url.URL) error {
	host := net.ParseIP(address.Hostname())
	local := address.Hostname() == "localhost" || host != nil && host.IsLoopback()
	switch {
	case address.Scheme == "https" && address.Host != "", address.Scheme == "file", address.Scheme == "http" && local:
		return nil
	}
	return fmt.Errorf("the URL of a program on %q has to begin with https:// or file://", address.Host)
}
