class Pipedeck < Formula
  desc "Terminal UI and local development environment for piped, the agent of PipeCD"
  homepage "https://github.com/pipedeck/pipedeck"
  version "<< .Version >>"
  license "Apache-2.0"

  on_macos do
<< with .Archives.darwin_arm64 >>    on_arm do
      url "<< .URL >>"
      sha256 "<< .SHA256 >>"
    end
<< end >><< with .Archives.darwin_amd64 >>    on_intel do
      url "<< .URL >>"
      sha256 "<< .SHA256 >>"
    end
<< end >>  end

  on_linux do
<< with .Archives.linux_arm64 >>    on_arm do
      url "<< .URL >>"
      sha256 "<< .SHA256 >>"
    end
<< end >><< with .Archives.linux_amd64 >>    on_intel do
      url "<< .URL >>"
      sha256 "<< .SHA256 >>"
    end
<< end >>  end

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"bin/pipedeck", libexec/"bin/piped"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pipedeck version")
    system bin/"pipedeck", "version", "--verify"
  end
end
