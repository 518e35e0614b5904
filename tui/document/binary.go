// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

// Binaries is the document of pipedeck plugin list, info, install and verify.
type Binaries struct {
	Head
	// Plugins are those of the piped configuration, or the named ones.
	Plugins []Binary `json:"plugins"`
}

// Binary is what is known of the binary of a plugin.
type Binary struct {
	// Name is that of the plugin.
	Name string `json:"name"`
	// URL is where the binary comes from, without secrets. For a plugin of an index it is where that leads.
	URL string `json:"url"`
	// Reference is the name in the index; empty for a plugin that needs no index.
	Reference string `json:"reference"`
	// Version is what the reference means now.
	Version string `json:"version"`
	// State is local, missing, fetched (before), downloaded, unchanged or stale (its server does not answer).
	State string `json:"state" words:"binary"`
	// Path is the file; empty when it is not here.
	Path string `json:"path"`
	// SHA256 is the digest of the file.
	SHA256 string `json:"sha256"`
	// Pinned says that the configuration or the URL holds the digest.
	Pinned bool `json:"pinned"`
	// Policy is that of the signature; empty without one.
	Policy string `json:"policy"`
	// SignedBy is the wanted key.
	SignedBy string `json:"signed_by"`
	// SignatureURL is where the signature is.
	SignatureURL string `json:"signature_url"`
	// Signed says that the signature was checked and is right.
	Signed bool `json:"signed"`
	// Comment is what the signer says.
	Comment string `json:"comment"`
	// Warning is something that does not keep the plugin from starting.
	Warning string `json:"warning"`
	// Problem is something that keeps the plugin from starting.
	Problem string `json:"problem"`
}

// PluginIndex is the document of pipedeck plugin list and info with --index alone.
type PluginIndex struct {
	Head
	// Plugins are those of the index, by name.
	Plugins []IndexedPlugin `json:"plugins"`
}

// IndexedPlugin is one plugin of an index.
type IndexedPlugin struct {
	// Name is that of the index.
	Name string `json:"name"`
	// Description is that of the index.
	Description string `json:"description"`
	// Newest is the newest version.
	Newest string `json:"newest"`
	// Versions are all versions, the newest first.
	Versions []IndexedVersion `json:"versions"`
}

// IndexedVersion is one version of a plugin.
type IndexedVersion struct {
	// Version is its name.
	Version string `json:"version"`
	// Binaries are those for each platform.
	Binaries []IndexedBinary `json:"binaries"`
}

// IndexedBinary is the binary for one platform.
type IndexedBinary struct {
	// Platform is OS/ARCHITECTURE.
	Platform string `json:"platform"`
	// URL is where the binary is, without secrets.
	URL string `json:"url"`
	// SHA256 is its digest.
	SHA256 string `json:"sha256"`
	// Signature is where its signature is; empty for the usual place.
	Signature string `json:"signature"`
}

// Push is the document of pipedeck plugin push.
type Push struct {
	Head
	// URL always names this content.
	URL string `json:"url"`
	// Digest is that of the content.
	Digest string `json:"digest"`
}

// Signing is the document of pipedeck plugin sign.
type Signing struct {
	Head
	// PublicKey is for the piped configuration.
	PublicKey string `json:"public_key"`
	// Signed are the binaries that were signed.
	Signed []SignedBinary `json:"signed"`
}

// SignedBinary is a binary that has been signed.
type SignedBinary struct {
	// Platform is that of a binary in a registry; empty for a file.
	Platform string `json:"platform"`
	// SHA256 is the digest of the binary.
	SHA256 string `json:"sha256"`
	// Signature is the file of the signature; empty for one in a registry.
	Signature string `json:"signature"`
	// Before says that the key had signed the binary in the registry already.
	Before bool `json:"before"`
}

// PluginTest is the document of pipedeck plugin test.
type PluginTest struct {
	Head
	// Checks are the cases that were run, in the order of docs/conformance.md.
	Checks []PluginCheck `json:"checks"`
}

// PluginCheck is how one case ended.
type PluginCheck struct {
	// ID names the case, as for --only.
	ID string `json:"id"`
	// Name is what must hold.
	Name string `json:"name"`
	// Capability is what the case looks at.
	Capability string `json:"capability"`
	// State is passed, failed, noted or n/a.
	State string `json:"state" words:"check"`
	// Detail says what was found.
	Detail string `json:"detail"`
	// Why is what piped or users experience when the case fails.
	Why string `json:"why"`
	// NextStep is what the author of a plugin that fails can do.
	NextStep string `json:"next_step"`
	// Reproduce is the command that runs the case alone.
	Reproduce string `json:"reproduce"`
	// Seconds is how long the case took.
	Seconds float64 `json:"seconds"`
}

// PluginCases is the document of pipedeck plugin test --list.
type PluginCases struct {
	Head
	// Cases are all cases, or those of --only.
	Cases []PluginCase `json:"cases"`
}

// PluginCase is one thing that a plugin has to do.
type PluginCase struct {
	// ID names the case, as for --only.
	ID string `json:"id"`
	// Name is what must hold.
	Name string `json:"name"`
	// Capability is what the case looks at.
	Capability string `json:"capability"`
	// Why is what piped or users experience when the case fails.
	Why string `json:"why"`
	// NextStep is what the author of a plugin that fails can do.
	NextStep string `json:"next_step"`
}

// Replay is the document of pipedeck plugin replay.
type Replay struct {
	Head
	// Calls are the recorded calls, in their order.
	Calls []ReplayedCall `json:"calls"`
}

// ReplayedCall is one recorded call.
type ReplayedCall struct {
	// Name is that of the call.
	Name string `json:"name"`
	// Same says that the plugin has answered as recorded.
	Same bool `json:"same"`
	// Differences are what is not as recorded.
	Differences []Difference `json:"differences"`
}

// Difference is one thing that is not as recorded.
type Difference struct {
	// What is the place of the difference.
	What string `json:"what"`
	// Recorded is the value of the recording.
	Recorded string `json:"recorded"`
	// Replayed is the value now.
	Replayed string `json:"replayed"`
}

// NewPluginSources is the document of pipedeck plugin new.
type NewPluginSources struct {
	Head
	// Name is that of the plugin.
	Name string `json:"name"`
	// Kind is what the plugin does.
	Kind string `json:"kind"`
	// Language is that of its sources.
	Language string `json:"language"`
	// Stage is the type of its stage, or the beginning of the types of its stages.
	Stage string `json:"stage"`
	// Module is the path of its Go module.
	Module string `json:"module"`
	// Directory is where it was written.
	Directory string `json:"directory"`
}
