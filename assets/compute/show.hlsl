// Shows a texture on a surface, as it is.
//
//     fxc -T vs_5_0 -E VSMain show.hlsl -Fo show_vs.dxbc
//     fxc -T ps_5_0 -E PSMain show.hlsl -Fo show_ps.dxbc

float4x4 WorldViewProjection;
Texture2D<float4> Shown : register(t0);
SamplerState Smooth : register(s0);

void VSMain(
    float3 position : POSITION,
    float2 texCoord : TEXCOORD0,
    out float2 outTexCoord : TEXCOORD0,
    out float4 outPosition : SV_Position)
{
    outPosition = mul(float4(position, 1.0), WorldViewProjection);
    outTexCoord = texCoord;
}

float4 PSMain(float2 texCoord : TEXCOORD0) : SV_Target
{
    return Shown.Sample(Smooth, texCoord);
}
