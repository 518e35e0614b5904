// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"debug/buildinfo"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/clip"
)

// shownHash is how many digits of a hash distinguish the builds of a plugin for users.
const shownHash = 12

// build is what users distinguish this program by. The author's own version is known once the plugin answers.
func (b binary) build() *agentv1.PluginBuild {
	build := &agentv1.PluginBuild{Hash: b.hash[:min(len(b.hash), shownHash)], Version: versionOf(b.path)}
	if !b.built.IsZero() {
		build.BuiltAt = timestamppb.New(b.built)
	}
	return build
}

// named returns the build with the version that its author gave it; empty for none.
func named(build *agentv1.PluginBuild, version string) *agentv1.PluginBuild {
	if version == "" {
		return build
	}
	return &agentv1.PluginBuild{Hash: build.GetHash(), BuiltAt: build.GetBuiltAt(), Version: version}
}

// versionHeader is what plugins of our SDK report their version in, next to their stages; others need not.
const versionHeader = "pipedeck-plugin-version-bin"

// maxVersion bounds the version that a plugin reports, in bytes.
const maxVersion = 100

// reportedVersion is the version in the headers of an answer, in one line; empty for none.
func reportedVersion(headers metadata.MD) string {
	values := headers.Get(versionHeader)
	if len(values) != 1 {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimSpace(clean([]byte(values[0]))), "\n")
	return clip.Bytes(version, maxVersion)
}

// versionOf is the version of a Go program, or the commit that it was built from; "" where it has neither.
func versionOf(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	if version := info.Main.Version; version != "" && version != "(devel)" {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return clip.Bytes(setting.Value, 12)
		}
	}
	return ""
}

// moduleOf is the path of the main module of a Go program; "" for another one.
func moduleOf(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return info.Main.Path
}

// written is when a file was written last; zero where that cannot be read.
func written(file *os.File) time.Time {
	info, err := file.Stat()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
