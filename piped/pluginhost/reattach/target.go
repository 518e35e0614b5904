// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reattach

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Variable has the targets of piped from its start, separated by semicolons. FileVariable names the file with those of
// later.
const (
	Variable     = "PIPEDECK_REATTACH"
	FileVariable = Variable + "_FILE"
)

// maxTargets bounds the targets of one piped.
const maxTargets = 1_000

// Target is where a process of a plugin waits for piped.
type Target struct {
	Plugin string `json:"plugin"`
	// Address is IP:PORT on loopback; empty for the process that has announced itself last.
	Address string `json:"address,omitempty"`
	// Token is what a process of our SDK asks for; empty for others.
	Token string `json:"token,omitempty"`
	// PID is the process, as far as it is known; 0 otherwise.
	PID int `json:"pid,omitempty"`
}

// Parse reads NAME, or NAME=ADDRESS followed by ,pid=PID and ,token=TOKEN as they are needed.
func Parse(text string) (Target, error) {
	name, rest, _ := strings.Cut(text, "=")
	target := Target{Plugin: name}
	fields := strings.Split(rest, ",")
	target.Address = fields[0]
	wrong := func(why string) (Target, error) {
		return Target{}, fmt.Errorf("%q does not name a process of a plugin: %s; give NAME, for one that has "+
			"announced itself, or NAME=127.0.0.1:PORT", Redact(text), why)
	}
	if name == "" || strings.ContainsAny(name, "/, ") || name == "." || name == ".." {
		return wrong("it has no name of a plugin")
	}
	if strings.Contains(text, "=") {
		if err := loopback(target.Address); err != nil {
			return wrong(err.Error())
		}
	}
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "token":
			target.Token = value
		case "pid":
			pid, err := strconv.Atoi(value)
			if err != nil || pid < 1 {
				return wrong(fmt.Sprintf("%q is not the number of a process", value))
			}
			target.PID = pid
		default:
			return wrong(fmt.Sprintf("%q is neither pid nor token", key))
		}
	}
	return target, nil
}

// ParseAll reads the value of Variable. No two targets are for one plugin.
func ParseAll(text string) (targets []Target, err error) {
	known := map[string]bool{}
	for one := range strings.SplitSeq(text, ";") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		target, err := Parse(one)
		switch {
		case err != nil:
			return nil, err
		case known[target.Plugin]:
			return nil, fmt.Errorf("two processes of plugin %q are given: leave one of them out", target.Plugin)
		case len(targets) == maxTargets:
			return nil, fmt.Errorf("more than %d processes are given", maxTargets)
		}
		known[target.Plugin] = true
		targets = append(targets, target)
	}
	return targets, nil
}

// Redact leaves tokens out of a text with targets.
func Redact(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	for i, part := range parts {
		if strings.HasPrefix(part, "token=") {
			parts[i] = "token=…"
		}
	}
	return strings.Join(parts, ",")
}

// loopback refuses an address that is not IP:PORT on the loopback interface.
func loopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q is not a port", port)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errors.New("piped uses only processes on this machine, at 127.0.0.1")
	}
	return nil
}

// CheckAddress refuses an address that is not on the loopback interface.
func CheckAddress(address string) error { return loopback(address) }
