// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

// Doctor is the document of pipedeck doctor.
type Doctor struct {
	Head
	// Checks are what was looked at.
	Checks []DoctorCheck `json:"checks"`
}

// DoctorCheck is one thing that was looked at on this machine.
type DoctorCheck struct {
	// Name is that of the check.
	Name string `json:"name"`
	// State is ok, warn or fail.
	State string `json:"state" words:"doctor"`
	// Found is what there is.
	Found string `json:"found"`
	// Why says why it matters; empty when the state is ok.
	Why string `json:"why"`
	// Fix is the command, or the short instruction, that fixes it; empty when the state is ok.
	Fix string `json:"fix"`
	// Mend is the same as fix, for programs that know the old name.
	Mend string `json:"mend"`
}

// Caches is the document of pipedeck clean.
type Caches struct {
	Head
	// Caches are those on this machine.
	Caches []Cache `json:"caches"`
	// Freed is how many bytes were freed.
	Freed int64 `json:"freed"`
}

// Cache is one cache on this machine.
type Cache struct {
	// Kind says what it holds.
	Kind string `json:"kind"`
	// Path is its directory.
	Path string `json:"path"`
	// Bytes is what it takes of the disk.
	Bytes int64 `json:"bytes"`
	// UsedAt is when it was used last, as far as the file system knows.
	UsedAt string `json:"used_at" format:"date-time"`
	// UsedBy names the environment or program that uses it; empty when it can be removed.
	UsedBy string `json:"used_by"`
	// Outdated says that the next start is not expected to need it.
	Outdated bool `json:"outdated"`
	// Removed says that it was removed.
	Removed bool `json:"removed"`
}

// Version is the document of pipedeck version.
type Version struct {
	Head
	// Version is that of the program.
	Version string `json:"version"`
	// Commit is the hash of the commit that it was built from; empty when not known.
	Commit string `json:"commit"`
	// CommitDate is the time of that commit; empty when not known.
	CommitDate string `json:"commit_date"`
	// Modified says that files of the commit were changed before the build.
	Modified bool `json:"modified"`
	// Go is the version of Go that built it.
	Go string `json:"go"`
	// Platform is OS/ARCHITECTURE.
	Platform string `json:"platform"`
}

// Verification is the document of pipedeck version --verify.
type Verification struct {
	Head
	// Archive is the file that was checked; empty for the installed release.
	Archive string `json:"archive"`
	// Version is that of the installed release.
	Version string `json:"version"`
	// Platform is that of the installed release.
	Platform string `json:"platform"`
	// Files counts the files that were checked.
	Files int `json:"files"`
	// Key is the public key that has signed.
	Key string `json:"key"`
}

// RegisteredPiped is the document of pipedeck piped register.
type RegisteredPiped struct {
	Head
	// ID is that of the new piped.
	ID string `json:"id"`
	// Name is that of the new piped.
	Name string `json:"name"`
	// Project is the id of the project.
	Project string `json:"project"`
	// KeyFile is the file with its key.
	KeyFile string `json:"key_file"`
	// Address is the host:port of the control plane.
	Address string `json:"address"`
}
